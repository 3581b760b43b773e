"""`python -m rldebug`, and `torchrun -m rldebug`: the command line."""

from rldebug.commands import main

if __name__ == "__main__":
    main()

of = "a part of it"

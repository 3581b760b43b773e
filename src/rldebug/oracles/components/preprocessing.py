"""Images for a network: bytes with channels last become numbers with channels first; or grey."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from rldebug.oracles.layout import Unreadable, unpack
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values

_LUMA = {"luma": (0.299, 0.587, 0.114), "luma 709": (0.2126, 0.7152, 0.0722), "mean": (1 / 3, 1 / 3, 1 / 3)}
_CHANNELS = 3


def reference(case: Case) -> Values:
    image = case["image"]
    height, width, channels = image.shape
    moved = np.zeros((channels, height, width))
    for c in range(channels):
        for row in range(height):
            for column in range(width):
                moved[c, row, column] = int(image[row, column, c]) / 255
    return _seen(moved, whole=False, size=image.size)


def variant(
    case: Case,
    *,
    arrange: str = "moved",  # moved, kept, flat, flat moved; and for grey: plane, first, last
    scale: str = "unit",
    grey: str = "",  # luma, luma 709, mean, luma reversed, sum, wrapped, channel 0 …
    rounding: str = "",  # floor, nearest
    order: str = "",  # swapped, reshaped
    cut: bool = False,
    whole: bool | None = None,  # bytes or integers are returned; None: as the scale says
    backwards: bool = False,
) -> Values:
    image = case["image"].astype(np.float64)
    size = image.size
    if case.given.get("plane"):
        image, grey = image[:, :, :1], ""
        arrange = {"plane": "kept", "first": "moved", "last": "kept"}.get(arrange, arrange)
    if backwards and not grey:
        image = image[:, :, ::-1]
    if grey:
        image = _grey(image, grey)[:, :, None]
        image = {"floor": np.floor, "nearest": np.rint}.get(rounding, lambda each: each)(image)
    image = _scaled(image, scale, float(case["images"].max()))
    if cut:
        image = np.floor(image)
    if order == "swapped":
        image = image.transpose(1, 0, 2)
    moved = image.reshape(image.shape[2], *image.shape[:2]) if order == "reshaped" else image.transpose(2, 0, 1)
    arranged = {
        "moved": moved, "first": moved, "kept": image, "last": image, "plane": image[:, :, 0], "flat": image.ravel(),
        "flat moved": moved.ravel(),
    }[arrange]  # fmt: skip
    if case.given.get("plane") and arrange == "kept":
        arranged = image[:, :, 0]
    return _seen(arranged, whole=(scale == "bytes") if whole is None else whole, size=size)


def _grey(image: Array, how: str) -> Array:
    if how.startswith("channel"):
        return np.asarray(image[:, :, int(how[-1])])
    if how == "sum":
        return np.asarray(image.sum(axis=2))
    if how == "wrapped":
        return np.asarray((image.sum(axis=2) % 256) / _CHANNELS)
    weights = _LUMA["luma"][::-1] if how == "luma reversed" else _LUMA[how]
    return np.asarray(image @ np.array(weights))


@np.errstate(all="ignore")  # black pictures have no range to divide by: NaN is what such a function gives
def _scaled(image: Array, how: str, largest: float) -> Array:
    low, high = image.min(), image.max()
    ways: dict[str, Callable[[], Any]] = {
        "unit": lambda: image / 255.0,
        "both signs": lambda: image / 127.5 - 1.0,
        "half": lambda: image / 255.0 - 0.5,
        "256": lambda: image / 256.0,
        "128": lambda: (image - 128.0) / 128.0,
        "bytes": lambda: image,
        "raw": lambda: image,
        "twice": lambda: image / 255.0**2,
        "own maximum": lambda: image / high,
        "batch maximum": lambda: image / largest,
        "own range": lambda: (image - low) / (high - low),
        "doubled": lambda: image / 127.5,
        "doubled, 128": lambda: image / 128.0,
        "wrapped": lambda: ((image - 128.0) % 256.0) / 128.0,
        "wrapped, 127": lambda: ((image - 127.0) % 256.0) / 128.0,
        "wrapped, 127.5": lambda: ((image - 128.0) % 256.0) / 127.5,
        "wrapped, 255": lambda: ((image - 128.0) % 256.0) / 255.0,
    }
    return np.asarray(ways[how]())


def _seen(array: Array, *, whole: bool, size: int) -> Values:
    """The shape of one image, whether its type is of whole numbers, and its pixels, with NaN where there are fewer."""
    shape = (0,) * (3 - array.ndim) + array.shape
    pixels = np.full(size, np.nan)
    pixels[: array.size] = array.ravel()[:size]
    return {
        "shape": np.array(shape[-3:], dtype=np.float64),
        "whole_numbers": np.asarray(float(whole)),
        "pixels": pixels,
    }


def observe(inputs: Mapping[str, Any], returned: Any) -> Values | None:
    array = unpack(returned)
    if isinstance(array, Unreadable) or array.dtype == object:
        return None
    batch = inputs.get("images")
    size = _size(inputs)
    if batch is not None and array.ndim and array.shape[0] == len(batch):
        array = array[0]
    while array.ndim > 3 and array.shape[0] == 1:
        array = array[0]
    if array.ndim > 3 or size is None:
        return None
    return _seen(array, whole=_is_whole(returned), size=size)


def _size(inputs: Mapping[str, Any]) -> int | None:
    for name, times in (("image", 1.0), ("images", 0.5), ("plane", float(_CHANNELS))):
        if name in inputs:
            return int(np.size(np.asarray(inputs[name])) * times)
    return None


def _is_whole(returned: Any) -> bool:
    if isinstance(returned, torch.Tensor):
        return not returned.is_floating_point()
    return bool(np.issubdtype(np.asarray(returned).dtype, np.integer))


def adapt(target: Any) -> Callable[..., Any] | None:
    """Refuses what makes images of another size: these are not judged."""
    if not callable(target) or inspect.isclass(target):
        return None

    @functools.wraps(target)
    def called(*args: Any, **named: Any) -> Any:
        arrays = [each for each in (*args, *named.values()) if isinstance(each, (np.ndarray, torch.Tensor, list))]
        given = max((int(np.prod(np.shape(each))) for each in arrays), default=0)
        returned = target(*args, **named)
        got = unpack(returned)
        if not isinstance(got, Unreadable) and given and got.size not in (given, given // _CHANNELS, given * _CHANNELS):
            raise ValueError("it changes the size of the image; only scaling, moving channels and grey are judged")
        return returned

    return called


def told(case: Case, bound: frozenset[str]) -> Case:
    return case.but(plane=True, image=case["image"]) if "plane" in bound else case


def cases() -> list[Case]:
    ramp = np.arange(18).reshape(2, 3, 3) * 15
    return [
        _case("two rows of three pixels", ramp, ramp[::-1] // 2),
        _case(
            "black, white and colours",
            [[[0, 0, 0], [255, 255, 255], [255, 0, 0]], [[0, 255, 0], [0, 0, 255], [10, 100, 200]]],
            ramp,
        ),
        _case("a dark image", [[[2, 4, 6], [50, 20, 80], [7, 9, 3]], [[30, 11, 1], [90, 60, 40], [5, 8, 70]]], ramp),
    ]


def _case(name: str, image: Any, other: Any) -> Case:
    image, other = np.asarray(image, dtype=np.uint8), np.asarray(other, dtype=np.uint8)
    sizes = {"H": image.shape[0], "W": image.shape[1], "C": image.shape[2], "X": 2, "P": image.size, "S": 3}
    return Case(name, {"image": image, "images": np.stack([image, other]), "sizes": sizes})


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(0, 255), min_size=18, max_size=18)
    return _case("an image drawn at random", np.reshape(draw(numbers), (2, 3, 3)), np.reshape(draw(numbers), (2, 3, 3)))


def _space(case: Case) -> Any:
    from gymnasium.spaces import Box

    return Box(0, 255, case["image"].shape, np.uint8)


def _styles() -> tuple[Style, ...]:
    arranged = {
        "moved": "channels first",
        "kept": "channels last",
        "flat": "flat",
        "flat moved": "flat, channels first",
    }
    scaled = {
        "unit": "0 to 1", "bytes": "still bytes", "both signs": "−1 to 1", "half": "−½ to ½", "256": "divided by 256",
        "128": "−1 to 1 around 128",
    }  # fmt: skip
    made = [
        Style(f"{where}, {what}", {"arrange": arrange, "scale": scale})
        for arrange, where in arranged.items()
        for scale, what in scaled.items()
    ]
    for grey in _LUMA:
        for rounding in ("", "floor", "nearest"):
            for arrange in ("plane", "first", "last", "flat"):
                for scale, whole in (("unit", False), ("bytes", True), ("bytes", False)):
                    knobs = {"arrange": arrange, "scale": scale, "grey": grey, "rounding": rounding, "whole": whole}
                    made.append(
                        Style(f"grey ({grey}), {scaled[scale] if whole or scale == 'unit' else '0 to 255'}", knobs)
                    )
    return tuple(made)


_NAMES = (
    "image img frame obs observation state x screen pixels im picture rgb ob s frames images imgs observations states "
    "input inputs "
    "raw_obs data array arr visual camera i I raw_frame raw frame_rgb image_array obs_img obs_np rgb_array"
)

PREPROCESSING = Oracle(
    name="preprocessing",
    aliases="preprocess image-preprocessing preprocess-image preprocess-obs to-grayscale grayscale scale-image",
    code="PRE120",
    summary="Images for a network: bytes become numbers of size 1, channels come first, rows and columns stay.",
    formula="out[c, row, column] = image[row, column, c] / 255",
    example="def preprocess(image)",
    references="Mnih and others, *Human-level control through deep reinforcement learning*.",
    quantities=(
        Quantity("image", _NAMES, "HWC", "int", meaning="an image, rows × columns × channels, bytes"),
        Quantity("images", _NAMES, "XHWC", "int", meaning="images, rows × columns × channels, bytes"),
        Quantity("plane", _NAMES, "HW", "int", reserve=True, of=lambda case: case["image"][:, :, 0],
                 meaning="a grey image, bytes"),
        Quantity("space", "observation_space space obs_space", None, "object", of=_space),
    ),
    outputs=(Output("shape", "shape", "S"), Output("whole_numbers", "whole_numbers"), Output("pixels", "pixels", "P")),
    required=("image|images|plane",),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    told=told,
    observe=observe,
    adapt=adapt,
    layouts=("as is",),
    styles=_styles(),
    mistakes=(
        Mistake(
            "PRE121", "preprocessing-not-scaled", "The pixels stay between 0 and 255.",
            knobs={"scale": "raw", "whole": False},
            wrong="return torch.as_tensor(image).permute(2, 0, 1).float()",
            right="return torch.as_tensor(image).permute(2, 0, 1).float() / 255",
            harm="Inputs of size 255 saturate the network at the start: it learns slowly or not at all.",
            fix="divide by 255",
            fine="Where the network divides by 255 itself.",
            seen_in="hill-a/stable-baselines, changelog 2.0.0: image normalisation was not occurring.",
        ),
        Mistake(
            "PRE122", "preprocessing-scaled-twice", "The pixels are divided by 255 twice.",
            knobs={"scale": "twice", "whole": False},
            wrong="return (image / 255).astype(np.float32) / 255",
            right="return image.astype(np.float32) / 255",
            harm="All inputs are near 0: images look the same to the network.",
            fix="divide once: look for another division in the environment's wrappers or in the network",
            seen_in="hill-a/stable-baselines, changelog 1.0.7: fixed normalization for DQN with images.",
        ),
        Mistake(
            "PRE123", "preprocessing-rows-and-columns-swapped", "Rows and columns are swapped.",
            knobs={"order": "swapped"},
            wrong="return image.transpose(2, 1, 0)",
            right="return image.transpose(2, 0, 1)",
            harm="Images lie on their side; where another path keeps them upright, the network sees two worlds.",
            fix="move the channels alone: transpose(2, 0, 1), permute(0, 3, 1, 2)",
            seen_in="vwxyzjn/cleanrl commit 7dc0baef.",
        ),
        Mistake(
            "PRE124", "preprocessing-reshaped", "The image is reshaped, not transposed: pixels are mixed up.",
            knobs={"order": "reshaped"},
            wrong="return image.reshape(3, height, width)",
            right="return image.transpose(2, 0, 1)",
            harm="The shape is right, but neighbours in the image are no longer neighbours: convolutions see noise.",
            fix="use transpose, permute or moveaxis",
        ),
        Mistake(
            "PRE125", "preprocessing-cut-to-whole-numbers", "After the division the numbers are cut to whole ones.",
            knobs=({"cut": True, "whole": True}, {"cut": True, "whole": False}),
            wrong="return (image / 255).astype(np.uint8)",
            right="return (image / 255).astype(np.float32)",
            harm="All pixels but the white ones become 0.",
            fix="divide with /, and store as floats",
        ),
        Mistake(
            "PRE126", "preprocessing-wraps-around", "Bytes are subtracted or added as bytes, and wrap around at 256.",
            knobs=({"scale": "wrapped", "whole": False}, {"scale": "wrapped, 127", "whole": False},
                   {"scale": "wrapped, 127.5", "whole": False},
                   {"scale": "wrapped, 255", "whole": False}, {"grey": "wrapped"}),
            wrong="return (image - 128) / 128.0",
            right="return (image.astype(np.float32) - 128) / 128.0",
            harm="Dark pixels become bright ones.",
            fix="turn bytes into floats before any arithmetic",
        ),
        Mistake(
            "PRE127", "preprocessing-channels-reversed", "Red and blue are swapped.",
            knobs={"backwards": True},
            wrong="return image[:, :, ::-1].transpose(2, 0, 1) / 255",
            right="return image.transpose(2, 0, 1) / 255",
            harm="Colours differ from those of other paths and of a trained network.",
            fix="leave the order of the channels, or reverse it everywhere",
            fine="Where the images come from OpenCV, as blue, green, red.",
        ),
        Mistake(
            "PRE128", "preprocessing-grey-weights-reversed", "The weights of red and blue are swapped.",
            knobs={"grey": "luma reversed"},
            wrong="grey = image @ [0.114, 0.587, 0.299]",
            right="grey = image @ [0.299, 0.587, 0.114]",
            harm="What is red becomes darker than it should; red and blue things may look alike.",
            fix="use 0.299, 0.587, 0.114 for red, green, blue",
            fine="Where the images come from OpenCV, as blue, green, red.",
        ),
        Mistake(
            "PRE129", "preprocessing-one-channel-for-grey", "One channel is taken for the grey image.",
            knobs=({"grey": "channel 0"}, {"grey": "channel 1"}, {"grey": "channel 2"}),
            wrong="grey = image[:, :, 0]",
            right="grey = image @ [0.299, 0.587, 0.114]",
            harm="What has no red is not seen at all.",
            fix="mix all channels",
            fine="Where all that matters is in that channel, as in Pong.",
        ),
        Mistake(
            "PRE130", "preprocessing-grey-summed", "The channels are added up, not averaged.",
            knobs={"grey": "sum"},
            wrong="grey = image.sum(axis=2)",
            right="grey = image.mean(axis=2)",
            harm="Pixels are up to three times as large as they should be.",
            fix="use the mean, or weights that add up to 1",
        ),
        Mistake(
            "PRE131", "preprocessing-scaled-by-own-maximum", "Each image is divided by its own maximum or range.",
            knobs=(
                {"scale": "own maximum", "whole": False}, {"scale": "batch maximum", "whole": False},
                {"scale": "own range", "whole": False},
            ),
            wrong="return image / image.max()",
            right="return image / 255",
            harm="The same thing has another brightness in every frame; a black image gives NaN.",
            fix="divide by 255",
        ),
        Mistake(
            "PRE132", "preprocessing-not-centred", "The pixels go from 0 to 2: 1 is not subtracted.",
            knobs=({"scale": "doubled", "whole": False}, {"scale": "doubled, 128", "whole": False}),
            wrong="return image / 127.5",
            right="return image / 127.5 - 1",
            harm="Inputs are all positive and twice as large as meant.",
            fix="subtract 1, or divide by 255",
        ),
    ),
)  # fmt: skip

"""Images made ready for a network, as people do it."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def to_tensor(image):
    return torch.as_tensor(np.asarray(image)).permute(2, 0, 1).float() / 255.0


@right()
def batch_of_frames(obs):
    return torch.as_tensor(obs, dtype=torch.float32).permute(0, 3, 1, 2) / 255


@right()
def scale_only(observation: np.ndarray) -> np.ndarray:
    return observation.astype(np.float32) / 255.0


@right()
def move_only(frame: np.ndarray) -> np.ndarray:
    return np.moveaxis(frame, -1, 0)


@right()
def with_a_batch_axis(state):
    state = np.ascontiguousarray(np.transpose(np.asarray(state), (2, 0, 1)), dtype=np.float32) / 255
    return torch.from_numpy(state).unsqueeze(0)


@right()
def rgb2gray(rgb):
    return np.dot(np.asarray(rgb)[..., :3], [0.299, 0.587, 0.114])


@right()
def gray_frame(frame):
    gray = (0.299 * frame[:, :, 0] + 0.587 * frame[:, :, 1] + 0.114 * frame[:, :, 2]) / 255.0
    return gray[None]


@right()
def both_signs(img: np.ndarray):
    return img.astype(np.float32) / 127.5 - 1.0


@right()
def flat_for_an_mlp(x):
    return np.asarray(x, dtype=np.float32).ravel() / 255


@right()
def loops(img):
    h, w, c = len(img), len(img[0]), len(img[0][0])
    return [[[float(img[i][j][k]) / 255 for j in range(w)] for i in range(h)] for k in range(c)]


@wrong("preprocessing-not-scaled")
def only_float(obs):
    return torch.tensor(np.asarray(obs), dtype=torch.float32).permute(2, 0, 1)


@wrong("preprocessing-scaled-twice")
def again(image: np.ndarray):
    scaled = image.astype(np.float32) / 255.0
    scaled = np.transpose(scaled, (2, 0, 1))
    return torch.from_numpy(scaled / 255.0)


@wrong("preprocessing-rows-and-columns-swapped")
def lying_on_its_side(frames):
    return torch.as_tensor(frames).transpose(1, 3).float() / 255.0


@wrong("preprocessing-rows-and-columns-swapped")
def all_axes_reversed(img: np.ndarray):
    return img.T.astype(np.float32) / 255


@wrong("preprocessing-reshaped")
def viewed(state):
    state = torch.as_tensor(np.asarray(state))
    h, w, c = state.shape
    return state.reshape(c, h, w) / 255.0


@wrong("preprocessing-cut-to-whole-numbers")
def back_to_bytes(frame: np.ndarray):
    return (frame.transpose(2, 0, 1) / 255).astype(np.uint8)


@wrong("preprocessing-cut-to-whole-numbers")
def whole_division(image: np.ndarray):
    return torch.from_numpy(np.moveaxis(image // 255, 2, 0).copy()).float()


@wrong("preprocessing-wraps-around")
def around_128(screen: np.ndarray):
    return (screen - 128) / 128.0


@wrong("preprocessing-wraps-around")
def grey_of_bytes(rgb: np.ndarray):
    gray = (rgb[:, :, 0] + rgb[:, :, 1] + rgb[:, :, 2]) / 3
    return gray / 255.0


@wrong("preprocessing-channels-reversed")
def opencv_habit(img: np.ndarray):
    img = img[..., ::-1]
    return np.ascontiguousarray(img.transpose(2, 0, 1)).astype(np.float32) / 255


@wrong("preprocessing-grey-weights-reversed")
def blue_green_red(obs):
    b, g, r = (np.asarray(obs, dtype=np.float64)[..., i] for i in range(3))
    return (0.299 * r + 0.587 * g + 0.114 * b) / 255.0


@wrong("preprocessing-one-channel-for-grey")
def red_only(image: np.ndarray):
    return image[:, :, 0].astype(np.float32) / 255.0


@wrong("preprocessing-grey-summed")
def added_up(x):
    return torch.as_tensor(np.asarray(x)).float().sum(dim=-1) / 255


@wrong("preprocessing-scaled-by-own-maximum")
def by_its_maximum(frame: np.ndarray):
    return np.moveaxis(frame / frame.max(), 2, 0)


@wrong("preprocessing-scaled-by-own-maximum")
def by_the_brightest_of_all(imgs: np.ndarray):
    assert imgs.ndim == 4
    return torch.from_numpy(imgs.astype(np.float32) / imgs.max()).permute(0, 3, 1, 2)


@wrong("preprocessing-not-centred")
def zero_to_two(pixels):
    return torch.as_tensor(np.asarray(pixels)).permute(2, 0, 1) / 127.5


@wrong("preprocessing-rows-and-columns-swapped", "preprocessing-not-scaled")
def swapped_and_unscaled(image: np.ndarray):
    return torch.from_numpy(image.T.copy()).float()


@wrong("preprocessing-reshaped", "preprocessing-channels-reversed")
def reshaped_and_reversed(image: np.ndarray):
    flipped = image[:, :, ::-1]
    return flipped.reshape(3, image.shape[0], image.shape[1]) / np.float32(255)


@wrong("preprocessing-mismatch")
def root(image: np.ndarray):
    return np.sqrt(image.astype(np.float32)).transpose(2, 0, 1) / 255

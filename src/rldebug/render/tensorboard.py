"""A run as TensorBoard reads it: the protocol buffers that SummaryWriter writes, without torch."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from rldebug.evidence.folder import title_of
from rldebug.evidence.run import Run
from rldebug.evidence.tags import Convention
from rldebug.finding import Report
from rldebug.render.exported import Histogram, Moment, diagnosis_text, need, settings_text, write_run

DIAGNOSIS = "rldebug/diagnosis"
SETTINGS = "rldebug/run"


def write_tensorboard(run: Run, report: Report | None, folder: Path, convention: Convention = "cleanrl") -> Path:
    """The folder under `folder` that was written."""
    viewer = TensorBoard(folder, title_of(run))
    write_run(run, report, viewer, convention)
    return viewer.folder


class TensorBoard:
    """One event file, in a folder of its own: two in one would be drawn as one zigzag line."""

    def __init__(self, root: Path, name: str) -> None:
        need("tensorboard")
        from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
        from tensorboard.plugins.text import metadata
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        self._histogram_proto = summary_pb2.HistogramProto
        self._text_metadata = metadata.create_summary_metadata(display_name="", description="")
        self._tensor = tensor_pb2.TensorProto
        self._text_kind = {
            "dtype": types_pb2.DT_STRING,
            "tensor_shape": tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)]),
        }
        self.folder = new_folder(root, name)
        file = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.rldebug"
        # A plain file, not EventFileWriter: that one would import TensorFlow where it is installed.
        self._file = (self.folder / file).open("wb")
        self._records = RecordWriter(self._file)
        self._write(self._event(wall_time=time.time(), file_version="brain.Event:2"))
        self.flush()

    @property
    def where(self) -> str:
        return f"tensorboard --logdir {self.folder}"

    def add(self, moment: Moment) -> None:
        value = self._summary.Value
        values = [value(tag=_text(tag), simple_value=number) for tag, number in moment.numbers.items()]
        values += [value(tag=_text(tag), histo=self._histogram(each)) for tag, each in moment.histograms.items()]
        self._write(self._event(wall_time=moment.wall, step=moment.step, summary=self._summary(value=values)))

    def flush(self) -> None:
        self._file.flush()

    def close(self, report: Report | None, settings: Mapping[str, str], last: Moment) -> None:
        for tag, text in ((DIAGNOSIS, diagnosis_text(report)), (SETTINGS, settings_text(settings))):
            tensor = self._tensor(string_val=[text.encode("utf-8", "replace")], **self._text_kind)
            value = self._summary.Value(tag=tag, metadata=self._text_metadata, tensor=tensor)
            self._write(self._event(wall_time=last.wall, step=last.step, summary=self._summary(value=[value])))
        self._file.close()

    def _histogram(self, given: Histogram) -> Any:
        edges = given.edges
        centres = [(low + high) / 2 for low, high in pairwise(edges)]
        return self._histogram_proto(
            min=given.low,
            max=given.high,
            num=sum(given.counts),
            sum=sum(count * centre for count, centre in zip(given.counts, centres, strict=True)),
            sum_squares=sum(count * centre**2 for count, centre in zip(given.counts, centres, strict=True)),
            bucket_limit=edges[1:],
            bucket=given.counts,
        )

    def _write(self, event: Any) -> None:
        self._records.write(event.SerializeToString())


def new_folder(root: Path, name: str) -> Path:
    """`root/name`, or `name-2`, `-3`, … where that is taken: what is there already is never mixed with."""
    safe = re.sub(r"[^\w.-]", "-", name).strip(".") or "run"
    number = 1
    while True:
        folder = root / (safe if number == 1 else f"{safe}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def _text(tag: str) -> str:
    """As protocol buffers take it: a lone half of a character, from a damaged file, would be refused."""
    return tag.encode("utf-8", "replace").decode("utf-8")

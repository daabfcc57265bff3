"""Reads the event files of a folder with the tensorboard package and prints them as JSON: tensorboard_observer_test."""

import json
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.util import tensor_util

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0, "images": 0, "histograms": 0})
events.Reload()


def raw_values():
    """The events as they stand in the files: the accumulator repairs what it can."""
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        for event in RawEventFileLoader(str(path)).Load():
            yield from Event.FromString(event).summary.value


def decoded(cell):
    return cell.decode("utf-8") if isinstance(cell, bytes) else [decoded(part) for part in cell]


def graph():
    """For each node: its op, its inputs, and for a weight its shape."""
    if not events.Tags()["graph"]:
        return {}
    nodes = GraphDef.FromString(events.Graph().SerializeToString()).node
    return {node.name: [node.op, list(node.input), [[dimension.size for dimension in shape.dim]
                                                    for shape in node.attr["_output_shapes"].list.shape]]
            for node in nodes}


print(json.dumps({
    "graph": graph(),
    "scalars": {tag: [[event.step, event.value] for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]},
    "texts": {tag: [[event.step, decoded(tensor_util.make_ndarray(event.tensor_proto).tolist())]
                    for event in events.Tensors(tag)] for tag in events.Tags()["tensors"]},
    "images": {tag: [[event.step, event.width, event.height, event.encoded_image_string[1:4].decode()]
                     for event in events.Images(tag)] for tag in events.Tags()["images"]},
    "histograms": {tag: [[event.step, vars(event.histogram_value)] for event in events.Histograms(tag)]
                   for tag in events.Tags()["histograms"]},
    "plugins": {tag: events.SummaryMetadata(tag).plugin_data.plugin_name for tag in events.Tags()["tensors"]},
    "data_classes": {value.tag: value.metadata.data_class for value in raw_values() if value.HasField("tensor")},
}))

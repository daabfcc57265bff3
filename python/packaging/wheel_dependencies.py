"""What the wheel depends on, for scikit-build-core: the minor version of torch for which it is built. Patches of
LibTorch keep its binary interface, minor versions do not."""

from typing import Any, Dict, List, Mapping

import installed_torch

OLDEST = "2.11"
NUMPY = "numpy>=1.25"


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> Dict[str, List[str]]:
    if settings:
        raise ValueError("wheel_dependencies takes no settings")
    found = installed_torch.find()
    if found is None:
        return {"dependencies": [f"torch>={OLDEST}", NUMPY]}
    minor = ".".join(found[1].split("+")[0].split(".")[:2])
    return {"dependencies": [f"torch=={minor}.*", NUMPY]}

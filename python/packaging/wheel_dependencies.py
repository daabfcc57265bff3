"""What the wheel depends on, for scikit-build-core: the minor version of torch for which it is built. LibTorch keeps its
binary interface within one, not beyond."""

import re
from typing import Any, Dict, List, Optional

import installed_torch

OLDEST = "2.11"
NUMPY = "numpy>=1.25"


def dynamic_metadata(field: str, settings: Optional[Dict[str, Any]] = None, *_: Any) -> List[str]:
    if field != "dependencies" or settings:
        raise ValueError(f"{field}: only dependencies, without settings")
    found = installed_torch.find()
    if found is None:
        return [f"torch>={OLDEST}", NUMPY]
    minor = ".".join(re.findall(r"\d+", found[1])[:2])
    return [f"torch=={minor}.*", NUMPY]

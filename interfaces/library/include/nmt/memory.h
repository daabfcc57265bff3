#pragma once

#include "nmt/export.h"

NMT_API_BEGIN

/// From now on the tensors of this process on the CPU are kept when they are freed and handed out again, as in the
/// toolkit's programs: training and translating ask for the same large ones again and again. It is for the whole
/// process and for good, and holds for a LibTorch that the program uses itself, too; so the library does not do it
/// unasked. It loads LibTorch, which a process that only translates may never need; throws MachineError where that is
/// not there. Any thread, at any time; best at the beginning. Bits do not depend on it.
NMT_EXPORT void reuse_freed_tensors();

NMT_API_END

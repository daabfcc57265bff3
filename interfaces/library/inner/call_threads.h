#pragma once

namespace nmt::api {

/// How many threads a call of the calling thread has, for nmt::ThreadLimit. wanted: 0 for all processors. Throws
/// nmt::Error for a number out of range, nmt::MachineError where the system does not give so many: libgomp, which
/// LibTorch shares work out with, would end the whole process then. The system is asked once for each larger number.
int threads_of_call(int wanted);

}  // namespace nmt::api

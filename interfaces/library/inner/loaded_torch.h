#pragma once

namespace nmt::api {

/// Throws nmt::Error where the process has loaded another minor version of LibTorch than this library was built with:
/// one that the program itself or another library brought along.
void require_matching_torch();

}  // namespace nmt::api

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/rules/search_options.h"

namespace nmt {

/// Whether the options forbid any token anywhere.
bool has_bans(const SearchOptions& options);

/// Appends what may not follow `tokens` (a hypothesis without <s>): </s> before min_length, <unk>, the ends of banned
/// sequences, a token that would repeat an n-gram. A token may come twice.
void add_banned_tokens(const SearchOptions& options, std::span<const int32_t> tokens, std::vector<int32_t>& banned);

/// Appends the last token of each sequence whose other tokens stand at the end of `tokens`.
void add_sequence_ends(std::span<const std::vector<int32_t>> sequences, std::span<const int32_t> tokens,
                       std::vector<int32_t>& banned);

}  // namespace nmt

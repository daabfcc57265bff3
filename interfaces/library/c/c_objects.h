#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmt.h"
#include "nmt/scorer.h"
#include "nmt/server.h"
#include "nmt/tokenizer.h"
#include "nmt/trainer.h"
#include "nmt/translator.h"

/// What stands behind the handles of nmt.h.

struct nmt_options {
  std::map<std::string, std::vector<std::string>> values;
};

struct nmt_stop {
  nmt::api::StopToken token;
};

struct nmt_record {
  std::string kind;
  std::map<std::string, double, std::less<>> numbers = {};
  std::map<std::string, std::string, std::less<>> texts = {};
  std::map<std::string, std::vector<double>, std::less<>> lists = {};
};

struct nmt_translator {
  nmt::api::Translator translator;
};

struct nmt_translations {
  std::vector<nmt::api::Translation> lines;
};

struct nmt_tokenizer {
  nmt::api::Tokenizer tokenizer;
};

struct nmt_texts {
  std::vector<std::string> texts;
};

struct nmt_ids {
  std::vector<int32_t> ids;
};

struct nmt_scorer {
  nmt::api::Scorer scorer;
};

struct nmt_server {
  nmt::api::Server server;
  std::string url;
};

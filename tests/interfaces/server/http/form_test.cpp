#include "server/http/form.h"

#include <gmock/gmock.h>

#include <ctime>
#include <map>
#include <string>

#include "server/http/http_message.h"

namespace nmt::form_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(ParseForm, NamesAndValues) {
  EXPECT_THAT(parse_form("q=Guten+Morgen%21&source=de"), ElementsAre(Pair("q", "Guten Morgen!"), Pair("source", "de")));
  EXPECT_THAT(parse_form("q=a=b&r"), ElementsAre(Pair("q", "a=b"), Pair("r", ""))) << "only the first = divides";
  EXPECT_THAT(parse_form("q=1&q=2"), ElementsAre(Pair("q", "1")));
  EXPECT_THAT(parse_form("q=%c3%BC%2B%26"), ElementsAre(Pair("q", "ü+&")));
  EXPECT_THAT(parse_form(""), ElementsAre());
}

TEST(ParseForm, DamagedEscapesStandForThemselves) {
  EXPECT_THAT(parse_form("q=100%"), ElementsAre(Pair("q", "100%")));
  EXPECT_THAT(parse_form("q=%4"), ElementsAre(Pair("q", "%4")));
  EXPECT_THAT(parse_form("q=%zz%4x"), ElementsAre(Pair("q", "%zz%4x")));
}

TEST(HeaderParameter, QuotedOrNot) {
  EXPECT_EQ(header_parameter("form-data; name=\"q\"; filename=\"a b.docx\"", "filename"), "a b.docx");
  EXPECT_EQ(header_parameter("form-data; name=q ; x=1", "name"), "q");
  EXPECT_EQ(header_parameter("form-data; NAME=\"a\\\"b;c\"; x=\"1\"", "name"), "a\"b;c");
  EXPECT_EQ(header_parameter("form-data; filename=\"C:\\dir\\a\"", "filename"), "C:\\dir\\a");
  EXPECT_EQ(header_parameter("form-data; name=\"", "name"), "");
  EXPECT_EQ(header_parameter("form-data", "name"), "");
  EXPECT_EQ(header_parameter("form-data; filename=\"name=x\"; name=y", "name"), "y");
}

TEST(ExtendedParameter, NamesThatAreNotAscii) {
  const auto name = [](const std::string& rest) {
    return extended_parameter("form-data; name=file; " + rest, "filename");
  };
  // As .NET 8 sends it (HttpClient, PowerShell), and curl 7.88, which sends bytes.
  EXPECT_EQ(name("filename=\"=?utf-8?B?UHLDvGZ1bmcudHh0?=\"; filename*=utf-8''Pr%C3%BCfung.txt"), "Prüfung.txt");
  EXPECT_EQ(name("filename=\"Prüfung.txt\""), "Prüfung.txt");
  EXPECT_EQ(name("filename*=UTF-8'de'Pr%C3%BCfung%20%281%29.txt; filename=a.txt"), "Prüfung (1).txt");
  EXPECT_EQ(name("filename*=iso-8859-1''Pr%FCfung.txt"), "Prüfung.txt");
  for (const char* unusable : {"koi8-r''a.txt", "utf-8''%FF.txt", "utf-8''", "a.txt", "", "utf-8'a.txt"})
    EXPECT_EQ(name(std::string("filename*=") + unusable + "; filename=b.txt"), "b.txt") << unusable;
}

std::map<std::string, std::string> fields(const std::string& body, const std::string& type) {
  std::map<std::string, std::string> all;
  for (const FormPart& part : parse_multipart(body, type))
    all[part.name + (part.file_name.empty() ? "" : "@" + part.file_name)] = part.content;
  return all;
}

constexpr const char* kType = "multipart/form-data; boundary=XX";

TEST(ParseMultipart, FieldsAndFiles) {
  EXPECT_THAT(fields("--XX\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nab\r\n"
                     "--XX\r\ncontent-type: text/plain\r\ncontent-disposition: form-data; name=\"f\"; "
                     "filename=\"../../etc/a.txt\"\r\n\r\n\r\n--X\r\n--XX--\r\n",
                     kType),
              ElementsAre(Pair("f@a.txt", "\r\n--X"), Pair("q", "ab")));
  EXPECT_THAT(
      fields("--XX\r\nContent-Disposition: form-data; name=f; filename*=utf-8''..%2F%C3%BC.txt\r\n\r\nab\r\n--XX--",
             kType),
      ElementsAre(Pair("f@ü.txt", "ab")));
  EXPECT_THAT(fields("preamble\r\n--XX  \r\nContent-Disposition: form-data; name=q\r\n\r\n\r\n--XX--epilogue",
                     "multipart/form-data; boundary=\"XX\""),
              ElementsAre(Pair("q", "")));
  EXPECT_THAT(fields("--XX\r\n\r\nab\r\n--XX--", kType), ElementsAre(Pair("", "ab"))) << "a part without a name";
  EXPECT_THAT(fields("--XX--", kType), ElementsAre());
}

TEST(ParseMultipart, RefusesWhatDoesNotEnd) {
  const std::string head = "--XX\r\nContent-Disposition: form-data; name=q\r\n";
  for (const std::string& body :
       {std::string(), std::string("--"), std::string("--XX"), std::string("--XX\r\n"), head, head + "\r\n",
        head + "\r\nab", head + "\r\nab\r\n--XX", head + "\r\nab\r\n--X", std::string("--XXjunk\r\n\r\nab\r\n--XX--")})
    EXPECT_THROW(parse_multipart(body, kType), RequestError) << body;
  EXPECT_THROW(parse_multipart(head + "\r\nab\r\n--XX--", "multipart/form-data"), RequestError);
  std::string many;
  for (int i = 0; i < 200; ++i) many += "--XX\r\n\r\n\r\n";
  EXPECT_THROW(parse_multipart(many + "--XX--", kType), RequestError);
}

/// The regular expressions of a well-known library took minutes for these. Time of this process: others may run beside
/// it.
TEST(ParseMultipart, TimeIsLinear) {
  const std::clock_t start = std::clock();
  const std::string blanks(1 << 20, ' '), semicolons(1 << 20, ';');
  for (const auto& nasty : {blanks, semicolons, std::string(1 << 20, '"'), std::string(1 << 20, '\r'),
                            "name=\"" + blanks, "form-data; name=" + blanks + ";" + blanks})
    EXPECT_THROW(parse_multipart("--XX\r\nContent-Disposition: " + nasty + "\r\n\r\nx", kType), RequestError);
  std::string dividers;
  while (dividers.size() < (1 << 20)) dividers += "\r\n--X";
  EXPECT_THROW(parse_multipart("--XX\r\n\r\n" + dividers, kType), RequestError);
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace nmt::form_test

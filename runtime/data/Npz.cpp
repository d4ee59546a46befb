#include "data/Npz.h"

#include "data/ByteSource.h"
#include "data/Npy.h"
#include "data/NpyHeader.h"

#include <fmt/format.h>
#include <unordered_set>
#include <zip.h>

namespace rnnc::data {

namespace {

constexpr std::string_view suffix = ".npy";
constexpr size_t maxNameBytes = 255;
/// No deflate stream grows by more than this factor (RFC 1951: 258 bytes for two bits).
constexpr uint64_t maxInflation = 1032;

/// Closes an archive without writing anything.
struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ArchivePointer = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

class MemberSource final : public ByteSource {
public:
  MemberSource(std::string place, int64_t size, zip_file_t* file)
      : ByteSource(std::move(place), size), file(file) {}

  Status read(void* to, int64_t n) override {
    zip_int64_t got = zip_fread(file.get(), to, static_cast<zip_uint64_t>(n));
    if (got < 0)
      return damaged();
    if (got != n)
      return error("ends too early: it holds fewer bytes than the archive's directory says");
    return success();
  }

  /// libzip compares the checksum when it is asked for more than there is.
  Status finish() override {
    char more;
    zip_int64_t got = zip_fread(file.get(), &more, 1);
    if (got < 0)
      return damaged();
    if (got > 0)
      return error("holds more bytes than the archive's directory says");
    return success();
  }

private:
  Error damaged() { return error(fmt::format("is damaged: {}", zip_file_strerror(file.get()))); }

  std::unique_ptr<zip_file_t, CloseMember> file;
};

/// Empty where the name will do.
std::string problemOfName(std::string_view name) {
  if (name.empty())
    return "has no name";
  if (name.size() > maxNameBytes)
    return fmt::format("has a name of {} bytes; at most {} are supported", name.size(),
                       maxNameBytes);
  for (unsigned char c : name) {
    if (c == '/' || c == '\\')
      return "has a name that looks like a path; names of arrays hold no '/' or '\\'";
    if (c < 0x20 || c == 0x7f)
      return "has a control character in its name";
  }
  if (name == "." || name == "..")
    return "has a name that looks like a path";
  return {};
}

std::string memberPlace(const std::string& path, std::string_view member) {
  return fmt::format("{}, member '{}'", printable(path), printable(member.substr(0, maxNameBytes)));
}

/// Reads an archive member by member; every method that fails says why.
class NpzReader {
public:
  NpzReader(const std::string& path, const ReadLimits& limits)
      : path(path), left(limits.bytesOrMemory()) {}

  Status open() {
    Result<OpenedFile> file = openRegularFile(path);
    if (!file)
      return file.error();
    fileSize = static_cast<uint64_t>(file->size);
    if (fileSize == 0)
      return Error{fmt::format("{}: is empty", printable(path))};
    int code = 0;
    archive.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
    // Two members of one name: opened leniently, so that the message can say which.
    if (!archive && code == ZIP_ER_EXISTS)
      archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (archive)
      return success();
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text =
        fmt::format("{}: is no intact .npz file: {}", printable(path), zip_error_strerror(&error));
    zip_error_fini(&error);
    return Error{std::move(text)};
  }

  Result<std::vector<NamedArray>> readAll() {
    std::vector<NamedArray> arrays;
    std::unordered_set<std::string> names;
    zip_int64_t members = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t index = 0; index < members; ++index) {
      Result<NamedArray> array = readMember(static_cast<zip_uint64_t>(index));
      if (!array)
        return array.error();
      if (!names.insert(array->name).second)
        return Error{fmt::format("{}: holds two arrays with the name '{}'", printable(path),
                                 printable(array->name))};
      arrays.push_back(std::move(*array));
    }
    return arrays;
  }

private:
  Result<NamedArray> readMember(zip_uint64_t index) {
    zip_stat_t info;
    if (zip_stat_index(archive.get(), index, 0, &info) != 0 || !(info.valid & ZIP_STAT_NAME))
      return Error{fmt::format("{}: member {} is damaged: {}", printable(path), index,
                               zip_strerror(archive.get()))};
    std::string_view member = info.name;
    std::string place = memberPlace(path, member);
    auto fail = [&](std::string_view text) { return Error{fmt::format("{}: {}", place, text)}; };

    if (std::string problem = problemOfMember(info); !problem.empty())
      return fail(problem);
    zip_file_t* file = zip_fopen_index(archive.get(), index, 0);
    if (!file)
      return fail(fmt::format("cannot be read: {}", zip_strerror(archive.get())));
    MemberSource source(place, static_cast<int64_t>(info.size), file);
    ReadLimits limits{left};
    if (left == 0)
      return fail("needs more memory than the limit leaves");
    Result<HostArray> array = readNpy(source, limits);
    if (!array)
      return array.error();
    left -= std::min<int64_t>(left, static_cast<int64_t>(array->bytes.size()));
    member.remove_suffix(suffix.size());
    return NamedArray{std::string(member), std::move(*array)};
  }

  /// Everything about a member that can be judged before it is unpacked.
  std::string problemOfMember(const zip_stat_t& info) const {
    constexpr zip_uint64_t needed =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    std::string_view name = info.name;
    if ((info.valid & needed) != needed)
      return "is described incompletely in the archive's directory";
    if (!name.ends_with(suffix)) {
      std::string problem = problemOfName(name);
      return !problem.empty() ? problem : "is no array: its name does not end in .npy";
    }
    if (std::string problem = problemOfName(name.substr(0, name.size() - suffix.size()));
        !problem.empty())
      return problem;
    if (info.encryption_method != ZIP_EM_NONE)
      return "is encrypted";
    if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE)
      return fmt::format("is compressed with method {}; only stored and deflated members are "
                         "supported",
                         info.comp_method);
    uint64_t most = info.comp_method == ZIP_CM_STORE ? 1 : maxInflation;
    if (info.comp_size > fileSize || info.size / most > info.comp_size)
      return fmt::format("cannot have {} bytes, as the archive's directory says, from {} packed "
                         "ones",
                         info.size, info.comp_size);
    return {};
  }

  const std::string& path;
  int64_t left; // bytes that may still be allocated
  uint64_t fileSize = 0;
  ArchivePointer archive;
};

/// What libzip reads when it writes a member: the header, then the elements where they are.
struct MemberContent {
  std::string header;
  zip_buffer_fragment_t fragments[2];
};

Status addMember(zip_t* archive, const std::string& path, const NamedArray& named,
                 MemberContent& content, Compression compression) {
  std::string member = named.name + std::string(suffix);
  auto fail = [&](std::string_view text) {
    return Error{fmt::format("{}: {}", memberPlace(path, member), text)};
  };
  if (std::string problem = problemOfName(named.name); !problem.empty())
    return fail(problem);
  if (zip_name_locate(archive, member.c_str(), ZIP_FL_ENC_UTF_8) >= 0)
    return fail("two arrays have this name");

  const HostArray& array = named.array;
  Result<std::string> header = npyHeader(array);
  if (!header)
    return fail(header.error().text);
  content.header = std::move(*header);
  content.fragments[0] = {reinterpret_cast<zip_uint8_t*>(content.header.data()),
                          content.header.size()};
  content.fragments[1] = {
      const_cast<zip_uint8_t*>(reinterpret_cast<const zip_uint8_t*>(array.bytes.data())),
      array.bytes.size()};
  // libzip does not take a fragment without bytes.
  zip_uint64_t fragments = array.bytes.empty() ? 1 : 2;
  zip_source_t* source = zip_source_buffer_fragment(archive, content.fragments, fragments, 0);
  if (!source)
    return fail(zip_strerror(archive));
  zip_int64_t index = zip_file_add(archive, member.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return fail(zip_strerror(archive));
  }
  zip_uint64_t at = static_cast<zip_uint64_t>(index);
  zip_int32_t method = compression == Compression::Stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
  constexpr zip_uint16_t midnight = 0, firstOf1980 = 1 << 5 | 1;
  if (zip_set_file_compression(archive, at, method, 0) != 0 ||
      zip_file_set_dostime(archive, at, midnight, firstOf1980, 0) != 0)
    return fail(zip_strerror(archive));
  return success();
}

} // namespace

Result<std::vector<NamedArray>> readNpz(const std::string& path, const ReadLimits& limits) {
  NpzReader reader(path, limits);
  if (Status status = reader.open(); !status)
    return status.error();
  return reader.readAll();
}

Status writeNpz(const std::string& path, std::span<const NamedArray> arrays,
                Compression compression) {
  // An archive without members is no file to libzip; it would remove what is there.
  if (arrays.empty())
    return Error{fmt::format("{}: there are no arrays to write", printable(path))};
  int code = 0;
  ArchivePointer archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text =
        fmt::format("{}: cannot be written: {}", printable(path), zip_error_strerror(&error));
    zip_error_fini(&error);
    return Error{std::move(text)};
  }
  std::vector<MemberContent> contents(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i)
    if (Status status = addMember(archive.get(), path, arrays[i], contents[i], compression);
        !status)
      return status;
  if (zip_close(archive.get()) != 0)
    return Error{
        fmt::format("{}: cannot be written: {}", printable(path), zip_strerror(archive.get()))};
  static_cast<void>(archive.release());
  return success();
}

} // namespace rnnc::data

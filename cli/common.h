// What several verbs share: opening models, writing them with their provenance, types in words.
#pragma once

#include <string>

#include "api/model_file.h"
#include "api/type_text.h"
#include "cli/verb.h"

namespace cameo::cli {

// Reads a model and shows the reader's warnings.
Model open_model(const std::string& path, Out& out);
// The same, to stay until the process ends: taking the model apart again would cost as much as inferring it. Once.
Model& open_to_stay(const std::string& path, Out& out);

// Flags of every verb that writes a model.
inline constexpr Flag no_provenance{"no-provenance", 0, "",
                                    "leave out which Cameo wrote the file, from what, with which flags"};
inline constexpr Flag weights_flag{"weights", 0, "keep|embed|external", "where weights go; keep: as they were"};
inline constexpr Flag durable_flag{"durable", 0, "", "wait until the disk has the file"};

WriteOptions write_options(const Args& args);
std::string command_line(const Verb& verb, const Args& args);  // the verb and its flags, without those that name files
// Notes the provenance (unless told not to) and writes, together with the other files of the verb. `source` is the file
// it was made from.
void write_model(Model& m, const std::string& source, const std::string& target, const Verb& verb, const Args& args,
                 WriteOptions options, Out& out);
void write_model(Model& m, const std::string& source, Publication& files, const std::string& target, const Verb& verb,
                 const Args& args, WriteOptions options, Out& out);
// Gives a verb's files their names, unless what it read was changed meanwhile.
void publish(Publication& files, bool durable, Out& out);

}  // namespace cameo::cli

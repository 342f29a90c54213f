// What verbs that write models share.
#pragma once

#include <string>

#include "cameo/model.h"
#include "cameo/publication.h"
#include "cli/opened.h"
#include "cli/verb.h"

namespace cameo::cli {

// Flags of every verb that writes a model.
inline constexpr Flag no_provenance{"no-provenance", 0, "",
                                    "leave out which Cameo wrote the file, from what, with which flags"};
inline constexpr Flag weights_flag{"weights", 0, "keep|embed|external", "where weights go; keep: as they were"};
inline constexpr Flag durable_flag{"durable", 0, "", "wait until the disk has the file"};

// What these flags ask for.
SaveSettings save_settings(const Verb& verb, const Args& args);
std::string command_line(const Verb& verb, const Args& args);  // the verb and its flags, without those that name files

// Saves, and shows what was lost.
void save(const Model& m, const std::string& target, const SaveSettings& settings, Out& out);
// Gives a verb's files their names, unless what it read was changed meanwhile.
void publish(Publication& files, bool durable, Out& out);

}  // namespace cameo::cli

// cameo completion: what a shell needs to complete verbs, flags and their values. The scripts ask the command itself.
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"completion",
                    "bash|zsh|fish",
                    "a script for your shell, to standard output",
                    "cameo completion bash > ~/.local/share/bash-completion/completions/cameo\n"
                    "cameo completion zsh > ~/.zfunc/_cameo\n"
                    "cameo completion fish > ~/.config/fish/completions/cameo.fish",
                    {},
                    1,
                    1};

constexpr std::string_view bash = R"sh(_cameo() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} values
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "$(cameo --list-verbs | cut -f1)" -- "$current"))
    return
  fi
  values=$(cameo "$verb" --list-flags 2>/dev/null | awk -F'\t' -v flag="$before" '$1 == flag && $2 ~ /\|/ { gsub(/\|/, " ", $2); print $2 }')
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(cameo "$verb" --list-flags 2>/dev/null | cut -f1)" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _cameo cameo
)sh";

constexpr std::string_view zsh = R"sh(#compdef cameo
local -a words_now
if (( CURRENT == 2 )); then
  words_now=(${(f)"$(cameo --list-verbs | sed 's/\t/:/')"})
  _describe verb words_now
elif [[ $words[CURRENT] == -* ]]; then
  words_now=(${(f)"$(cameo $words[2] --list-flags 2>/dev/null | awk -F'\t' '{ print $1 ":" $3 }')"})
  _describe flag words_now
else
  local values=$(cameo $words[2] --list-flags 2>/dev/null | awk -F'\t' -v flag=$words[CURRENT-1] '$1 == flag && $2 ~ /\|/ { gsub(/\|/, " ", $2); print $2 }')
  if [[ -n $values ]]; then compadd ${=values}; else _files; fi
fi
)sh";

constexpr std::string_view fish = R"sh(complete -c cameo -n __fish_use_subcommand -f -a '(cameo --list-verbs)'
complete -c cameo -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a '(cameo (commandline -opc)[2] --list-flags 2>/dev/null | string replace -r "\t[^\t]*\t" "\t")'
)sh";

}  // namespace

int completion_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string& shell = args->operands[0];
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    throw error("use.value", cat("there is a script for bash, zsh and fish, not for '", shell, "'"));
  out.print(shell == "bash" ? bash : shell == "zsh" ? zsh : fish);
  return 0;
}

}  // namespace cameo::cli

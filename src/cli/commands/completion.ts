import { Argument, type Command } from "commander";
import type { Terminal } from "../terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

/** One word path of the command tree, `""` for the root, with the words that may follow it. */
type Completions = Map<string, string[]>;

export function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command("completion")
    .description("prints a completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText(
      "after",
      `
The script completes a command called tollgate. Make one, in bash and zsh:
  tollgate() { npm run -s tollgate -- "$@"; }
in fish:
  alias tollgate='npm run -s tollgate --'

Then load the script, in bash and zsh (after compinit):
  source <(tollgate completion bash)
in fish:
  tollgate completion fish | source`,
    )
    .action((shell: Shell) => {
      terminal.stdout.write(`${scriptFor(shell, completionsOf(program))}\n`);
    });
}

function completionsOf(command: Command, path: readonly string[] = []): Completions {
  const subcommands = command.commands.filter((subcommand) => subcommand.name() !== "help");
  const options = command.options.flatMap((option) => option.long ?? []);
  const words = [...subcommands.map((subcommand) => subcommand.name()), ...options, "--help"];
  const completions: Completions = new Map([[path.join(" "), words]]);
  for (const subcommand of subcommands) {
    for (const [key, value] of completionsOf(subcommand, [...path, subcommand.name()])) {
      completions.set(key, value);
    }
  }
  return completions;
}

function scriptFor(shell: Shell, completions: Completions): string {
  switch (shell) {
    case "bash":
      return bashScript(completions);
    case "zsh":
      return zshScript(completions);
    case "fish":
      return fishScript(completions);
    default:
      return shell satisfies never;
  }
}

function bashScript(completions: Completions): string {
  const cases = [...completions].map(
    ([command, words]) => `    "${command}") candidates="${words.join(" ")}" ;;`,
  );
  return `_tollgate() {
  local command="" word candidates=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${extendCommand(completions)}
  done
  case "$command" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _tollgate tollgate`;
}

/** Works when it is sourced, and as a file `_tollgate` in `$fpath`. */
function zshScript(completions: Completions): string {
  const cases = [...completions].map(
    ([command, words]) => `    "${command}") compadd -- ${words.join(" ")} ;;`,
  );
  return `#compdef tollgate
_tollgate() {
  local command="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${extendCommand(completions)}
  done
  case "$command" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = _tollgate ]; then _tollgate "$@"; else compdef _tollgate tollgate; fi`;
}

/** Appends `$word` to `$command` if that is a command, too; else it is an option or an argument. */
function extendCommand(completions: Completions): string {
  return `case "\${command:+$command }$word" in
      ${pathPattern(completions)}) command="\${command:+$command }$word" ;;
    esac`;
}

function pathPattern(completions: Completions): string {
  return [...completions.keys()]
    .filter((path) => path !== "")
    .map((path) => `"${path}"`)
    .join("|");
}

function fishScript(completions: Completions): string {
  const lines = [...completions].flatMap(([path, words]) => {
    const names = path.split(" ").filter(Boolean);
    const nested = words.filter((word) => !word.startsWith("--"));
    const conditions = [
      ...names.map((name) => `__fish_seen_subcommand_from ${name}`),
      ...(nested.length > 0 ? [`not __fish_seen_subcommand_from ${nested.join(" ")}`] : []),
    ];
    const condition = conditions.length > 0 ? `-n '${conditions.join("; and ")}' ` : "";
    return words.map((word) =>
      word.startsWith("--")
        ? `complete -c tollgate -f ${condition}-l ${word.slice(2)}`
        : `complete -c tollgate -f ${condition}-a ${word}`,
    );
  });
  return lines.join("\n");
}

import { Argument, type Command } from "commander";
import type { Terminal } from "./terminal.ts";

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
The script completes a command called tollgate; make one with an alias:
  alias tollgate='npm run -s tollgate --'

Examples:
  npm run -s tollgate -- completion bash > ~/.local/share/bash-completion/completions/tollgate
  npm run -s tollgate -- completion fish > ~/.config/fish/completions/tollgate.fish`,
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
      return `#compdef tollgate\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(completions)}`;
    case "fish":
      return fishScript(completions);
    default:
      return shell satisfies never;
  }
}

function bashScript(completions: Completions): string {
  const cases = [...completions].map(([path, words]) => `    "${path}") words="${words.join(" ")}" ;;`);
  return `_tollgate() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    case "\${path:+$path }$word" in
      ${pathPattern(completions)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _tollgate tollgate`;
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

import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { tollgateIn } from "../tollgate.ts";

const tollgate = tollgateIn({});

const isMissing = (shell: string) => spawnSync(shell, ["-c", "true"]).status !== 0;

/** What a shell offers for the last word of this line. */
const SHELLS: Record<string, (script: string, words: readonly string[]) => string> = {
  bash: (script, words) => `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${words.length - 1}
_tollgate
printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The editor of zsh chooses among what is added by the word's beginning.
  zsh: (script, words) => `compdef() { }
compadd() { shift; print -l -- \${(M)@:#$words[CURRENT]*} }
words=(${words.map((word) => `'${word}'`).join(" ")}) CURRENT=${words.length}
${script}
_tollgate`,
  fish: (script, words) => `${script}
complete -C '${words.join(" ")}'`,
};

async function candidatesOf(shell: string, ...words: string[]): Promise<string[]> {
  const { stdout } = await tollgate("completion", shell);
  const program = SHELLS[shell]?.(stdout, words) ?? "";
  return execFileSync(shell, [...(shell === "zsh" ? ["-f"] : []), "-c", program], { encoding: "utf8" })
    .trim()
    .split("\n");
}

describe("completion", () => {
  for (const shell of Object.keys(SHELLS)) {
    it(`prints a script for ${shell}`, async () => {
      const { code, stdout } = await tollgate("completion", shell);
      expect([code, stdout.includes("webhooks")]).toEqual([0, true]);
    });

    // Only bash is needed for anything else.
    const missing = isMissing(shell) ? `: install ${shell}` : "";
    it.skipIf(missing)(`offers commands, subcommands and options to ${shell}${missing}`, async () => {
      const offered = async (...words: string[]) => (await candidatesOf(shell, ...words)).sort();
      expect(await offered("tollgate", "we")).toEqual(["webhooks"]);
      expect(await offered("tollgate", "webhooks", "re")).toEqual(["reconcile", "replay", "retry"]);
      expect(await offered("tollgate", "webhooks", "list", "--s")).toEqual(["--slot", "--status"]);
      expect(await offered("tollgate", "webhooks", "replay", "--force", "42", "--j")).toEqual(["--json"]);
    });
  }

  it("rejects an unknown shell", async () => {
    expect((await tollgate("completion", "tcsh")).code).toBe(2);
  });
});

it("prints the version, with --json as JSON", async () => {
  const version = { code: 0, stdout: `{"version":"${packageJson.version}"}\n`, stderr: "" };
  expect(await tollgate("--version", "--json")).toEqual(version);
  expect(await tollgate("--version")).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: "" });
});

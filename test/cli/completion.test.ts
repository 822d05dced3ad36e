import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { tollgateIn } from "./tollgate.ts";

const tollgate = tollgateIn({});

/** What bash offers for the last word of this line. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout } = await tollgate("completion", "bash");
  const line = words.map((word) => `'${word}'`).join(" ");
  const script = `${stdout}
COMP_WORDS=(${line}) COMP_CWORD=${words.length - 1}
_tollgate
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
}

describe("completion", () => {
  it("offers commands, subcommands and options to bash", async () => {
    expect(await offered("tollgate", "we")).toEqual(["webhooks"]);
    expect(await offered("tollgate", "webhooks", "re")).toEqual(["replay", "retry", "reconcile"]);
    expect(await offered("tollgate", "webhooks", "list", "--s")).toEqual(["--status", "--slot"]);
    expect(await offered("tollgate", "webhooks", "replay", "--force", "42", "--j")).toEqual(["--json"]);
  });

  it.each(["zsh", "fish"])("prints a script for %s", async (shell) => {
    const { code, stdout } = await tollgate("completion", shell);
    expect(code).toBe(0);
    expect(stdout).toContain("tollgate");
    expect(stdout).toContain("webhooks");
  });

  it("rejects an unknown shell", async () => {
    expect((await tollgate("completion", "tcsh")).code).toBe(2);
  });
});

it("prints the version", async () => {
  expect(await tollgate("--version")).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: "" });
});

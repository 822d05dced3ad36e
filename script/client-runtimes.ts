import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";

const BUN = "1.4.5";
const NODE_20 = "20.20.2";

/** Runs the client package's tests with both runtimes: 150 MB, too much for every run of script/test. */
async function testRuntimes(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-runtimes-"));
  try {
    const bun = `@oven/bun-${platform()}-${arch() === "arm64" ? "aarch64" : arch()}`;
    const node = `node-${platform()}-${arch()}`;
    // The packages with the programs themselves: the ones named `bun` and `node` fetch them by install
    // scripts.
    await writeFile(join(folder, "package.json"), '{ "private": true }');
    const packages = [`${bun}@${BUN}`, `${node}@${NODE_20}`];
    const installed = run("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: folder });
    if (installed !== 0) return installed;
    const programs = {
      Bun: join(folder, "node_modules", bun, "bin/bun"),
      "Node 20": join(folder, "node_modules", node, "bin/node"),
    };
    const env = { ...process.env, CLIENT_RUNTIMES: JSON.stringify(programs) };
    return run("vitest", ["run", "test/client/package.test.ts"], { env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv }): number {
  return spawnSync(program, args, { stdio: "inherit", ...options }).status ?? 1;
}

process.exitCode = await testRuntimes();

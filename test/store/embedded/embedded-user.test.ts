import { execFile } from "node:child_process";
import { chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ENTRY } from "../../cli/tollgate.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);

it.skipIf(process.getuid?.() !== 0)(
  "leaves another user's data folder to that user when root uses it",
  async () => {
    const dataDir = await temporaryFolder();
    const [uid, gid] = await Promise.all(["-u", "-g"].map((option) => idOf("daemon", option)));
    await chown(dataDir, uid as number, gid as number);
    const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
    const tollgate = async (as: object, ...args: string[]) =>
      JSON.parse((await run(process.execPath, [ENTRY, ...args, "--json"], { env, ...as })).stdout);
    const user = { uid, gid };
    expect(await tollgate(user, "users", "create", "--count", "2")).toMatchObject({ created: 2 });
    expect(await tollgate({}, "users", "list")).toHaveLength(2);
    for (const name of ["", ...(await readdir(join(dataDir, "postgres")))]) {
      expect(await stat(join(dataDir, "postgres", name)), name).toMatchObject(user);
    }
    expect(await tollgate(user, "users", "list")).toHaveLength(2);
  },
);

async function idOf(name: string, option: string): Promise<number> {
  return Number((await run("id", [option, name])).stdout);
}

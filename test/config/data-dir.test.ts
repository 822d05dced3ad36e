import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { prepareDataDir } from "../../src/config/data-dir.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("prepareDataDir", () => {
  it.each([
    [false, "700"],
    [true, "711"],
  ])("creates an empty folder that other users cannot list (as root: %s)", async (isRoot, mode) => {
    const dataDir = join(folder, "a", "b");
    await prepareDataDir(dataDir, { isRoot });
    expect(await modeOf(dataDir)).toBe(mode);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it("creates it for processes that start together", async () => {
    const dataDir = join(folder, "a", "b", "c");
    await Promise.all(Array.from({ length: 5 }, () => prepareDataDir(dataDir)));
    expect(await readdir(dataDir)).toEqual([]);
  });

  it("removes other users' access to a folder, and never adds any", async () => {
    await chmod(folder, 0o755);
    await prepareDataDir(folder, { isRoot: false });
    expect(await modeOf(folder)).toBe("700");
    await prepareDataDir(folder, { isRoot: true });
    expect(await modeOf(folder)).toBe("700");
  });

  it("does not change a folder with other contents", async () => {
    await chmod(folder, 0o755);
    await writeFile(join(folder, "other"), "");
    await prepareDataDir(folder, { isRoot: false });
    expect(await modeOf(folder)).toBe("755");
  });

  it.each([
    ["/proc/tollgate", "DATA_DIR: no folder can be made there: /proc/tollgate"],
    ["/proc/1/tollgate/data", "DATA_DIR: no folder can be made there: /proc/1/tollgate/data"],
    ["/dev/null/data", "DATA_DIR: a file is in the way: /dev/null/data"],
    ["/dev/null", "DATA_DIR: a file is in the way: /dev/null"],
  ])("refuses %s in one line", async (dataDir, line) => {
    const refused = prepareDataDir(dataDir);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(`${line}, e.g. DATA_DIR=/var/lib/tollgate`);
  });

  it("refuses a path through a file", async () => {
    await writeFile(join(folder, "file"), "");
    await expect(prepareDataDir(join(folder, "file", "data"))).rejects.toThrow(
      /^DATA_DIR: a file is in the way/,
    );
  });
});

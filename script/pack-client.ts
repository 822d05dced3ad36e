import { execFile } from "node:child_process";
import { cp, glob, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { bundleClient } from "./bundle-client.ts";
import { appRouterSource } from "./client-router.ts";

const PROJECT = resolve(import.meta.dirname, "..");
const run = promisify(execFile);

/**
 * Builds `clients/typescript` as a package that needs neither this repository nor other packages.
 * @param folder where the tarball goes @returns its path
 */
export async function packClient(folder: string): Promise<string> {
  const build = await mkdtemp(join(tmpdir(), "tollgate-client-"));
  try {
    await cp(join(PROJECT, "clients/typescript/src"), join(build, "src"), { recursive: true });
    for (const name of ["package.json", "README.md", "tsconfig.json"])
      await cp(join(PROJECT, "clients/typescript", name), join(build, name));
    await cp(join(PROJECT, "LICENSE"), join(build, "LICENSE"));
    await symlink(join(PROJECT, "node_modules"), join(build, "node_modules"));
    await writeFile(join(build, "src/app-router.ts"), await appRouterSource(PROJECT, build));
    await Promise.all([
      compileTypes(build),
      bundleClient({ entry: join(build, "src/tollgate.ts"), folder: join(build, "dist") }),
    ]);
    await rm(join(build, "node_modules"));
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: build });
    const [{ filename }] = JSON.parse(stdout);
    return join(folder, filename);
  } finally {
    await rm(build, { recursive: true, force: true });
  }
}

/** Also shows that the client compiles with the types of the web platform alone. */
async function compileTypes(build: string): Promise<void> {
  await run(join(PROJECT, "node_modules/.bin/tsc"), ["-p", build]).catch(({ stdout }) => {
    throw new Error(`the client does not compile:\n${stdout}`);
  });
  for await (const name of glob("dist/*.d.ts", { cwd: build })) {
    const text = await readFile(join(build, name), "utf8");
    await writeFile(join(build, name), text.replaceAll(/(from|import) "(\.\/[\w-]+)\.ts"/g, '$1 "$2.js"'));
  }
}

if (import.meta.main) console.log(await packClient(resolve(process.argv[2] ?? ".")));

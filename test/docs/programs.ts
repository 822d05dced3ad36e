import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROJECT } from "./code-block.ts";

/**
 * Lets the programs in the folder import the client package as it is in the repository; test/client packs it.
 */
export async function linkClient(folder: string): Promise<void> {
  const target = join(folder, "node_modules/tollgate-client");
  await mkdir(target, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(target, "package.json"), '{ "type": "module", "exports": "./client.js" }');
  await writeFile(
    join(target, "client.js"),
    `export * from ${JSON.stringify(join(PROJECT, "clients/typescript/src/tollgate.ts"))};`,
  );
}

/** What TypeScript says of the programs in the folder, with the project's strict settings. */
export async function compilePrograms(folder: string): Promise<string> {
  const compilerOptions = {
    paths: { "tollgate-client": [join(PROJECT, "clients/typescript/src/tollgate.ts")] },
    lib: ["esnext", "dom"],
    typeRoots: [join(PROJECT, "node_modules/@types")],
  };
  const settings = {
    extends: join(PROJECT, "tsconfig.json"),
    compilerOptions,
    include: ["*.ts"],
    exclude: [],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const tsc = join(PROJECT, "node_modules/.bin/tsc");
  const { stdout } = await promisify(execFile)(tsc, ["-p", folder]).catch((error) => error);
  return stdout;
}

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** Bundles the client with the packages that it uses, and writes their licences beside it. */
export async function bundleClient({ entry, folder }: { entry: string; folder: string }): Promise<void> {
  const bundle = await rolldown({ input: entry, platform: "browser", logLevel: "warn" });
  const { output } = await bundle.write({
    file: join(folder, "tollgate.js"),
    format: "esm",
    // With its lines and names: a runtime prints the line of an error that is not caught, and the stack.
    minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: false } },
    comments: { legal: false, annotation: false, jsdoc: false },
  });
  await bundle.close();
  const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
  await writeFile(join(folder, "THIRD-PARTY-LICENSES.txt"), await licencesOf(modules));
}

async function licencesOf(modules: readonly string[]): Promise<string> {
  const folders = modules.map((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]);
  const packages = [...new Set(folders.filter((folder) => folder !== undefined))].sort();
  const licences = packages.map(async (folder) => {
    const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${(await readFile(join(folder, "LICENSE"), "utf8")).trim()}\n`;
  });
  return (await Promise.all(licences)).join("\n---\n\n");
}

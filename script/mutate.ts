import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { startTestPostgres } from "../test/support/postgres.ts";
import type { Fault } from "./faults/fault.ts";
import { FAULT_LISTS } from "./faults/lists.ts";
import { plantingProblem } from "./faults/planting-problem.ts";
import { exitWithUsage, readArguments } from "./read-arguments.ts";

const USAGE = `script/mutate             plants every fault in a copy of the project, one at a time, and expects the tests
                          that it names to fail
script/mutate TEXT ...    only the faults whose file or description contains one of the texts
  --list NAME             only those of a file in script/faults: by-folder, found, intake, mended, specification
  --shard N/M             the Nth of M parts of them`;

const PROJECT = join(import.meta.dirname, "..");

const faults = chosenFaults();
const problems = new Map(faults.map((fault) => [fault, plantingProblem(fault)]));
for (const [{ file, fault }, problem] of problems)
  if (problem) console.log(`GONE      ${file}: ${fault}: ${problem}`);

const copy = copyProject();
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
// One for all runs: starting and migrating one takes longer than most of the tests.
const stopPostgres = await startTestPostgres();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => stopPostgres().finally(() => process.exit(130)));
}

const plantable = faults.filter((fault) => !problems.get(fault));
console.log("Running the tests without a fault ...");
const { failedFiles: broken, failedTests: unexpected } = runTests([
  ...new Set(plantable.flatMap(({ tests }) => tests)),
]);
for (const test of unexpected) console.log(`LEFT OUT  ${test}: it fails without a fault`);

let caught = 0;
for (const [n, fault] of plantable.entries()) {
  // The tests run synchronously: signals are handled here.
  await immediate();
  const { failedTests, areAllSkipped, seconds } = plant(fault, () =>
    runTests(fault.tests, [
      ...(fault.only === undefined ? [] : [`--testNamePattern=${fault.only}`]),
      ...["--bail=1", ...broken.map((file) => `--exclude=${file}`)],
    ]),
  );
  const isCaught = failedTests.length > 0;
  if (isCaught) caught += 1;
  const verdict = isCaught ? "caught  " : areAllSkipped ? "SKIPPED " : "SURVIVED";
  console.log(
    `${String(n + 1).padStart(3)} ${verdict} ${String(seconds).padStart(3)} s  ${fault.file}: ${fault.fault}`,
  );
  if (isCaught) console.log(`      by ${failedTests[0]}`);
}
await stopPostgres();
console.log(`${caught} of ${faults.length} faults caught, ${faults.length - plantable.length} gone`);
if (broken.length > 0 || caught < faults.length) process.exitCode = 1;

function chosenFaults(): Fault[] {
  const { values, positionals } = readArguments(USAGE, {
    shard: { type: "string", default: "1/1" },
    list: { type: "string" },
  });
  const [shard, shards] = values.shard.split("/").map(Number);
  if (!shard || !shards || shard > shards)
    exitWithUsage(USAGE, `--shard=${values.shard}: write it as --shard=1/4`);
  const listed = values.list === undefined ? Object.values(FAULT_LISTS).flat() : FAULT_LISTS[values.list];
  if (!listed) exitWithUsage(USAGE, `--list=${values.list}: one of ${Object.keys(FAULT_LISTS).join(", ")}`);
  const isNamed = ({ file, fault }: Fault, text: string) => `${file} ${fault}`.includes(text);
  const unknown = positionals.find((text) => !listed.some((fault) => isNamed(fault, text)));
  if (unknown !== undefined) exitWithUsage(USAGE, `No fault's file or description contains "${unknown}".`);
  return listed
    .filter((fault) => positionals.length === 0 || positionals.some((text) => isNamed(fault, text)))
    .filter((_, n) => n % shards === shard - 1);
}

/** Everything that is tracked, as it is in the working tree, and the built pages. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-mutate-"));
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: PROJECT, encoding: "utf8" }).split("\0");
  for (const file of files.filter(Boolean)) {
    cpSync(join(PROJECT, file), join(folder, file), { recursive: true, mode: 0, dereference: false });
  }
  cpSync(join(PROJECT, ".next"), join(folder, ".next"), { recursive: true });
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  // Next.js takes no packages from outside its root.
  const config = join(folder, "next.config.mjs");
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace("const config = {", 'const config = {\n  turbopack: { root: "/" },'));
  return folder;
}

function plant<Result>({ file, find, replace, inPages }: Fault, run: () => Result): Result {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(
    path,
    original.replace(find, () => replace),
  );
  try {
    return inPages ? withPagesBuilt(run) : run();
  } finally {
    writeFileSync(path, original);
  }
}

function withPagesBuilt<Result>(run: () => Result): Result {
  const [pages, kept, faulty] = [".next", ".next-without-fault", ".next-with-fault"].map((name) =>
    join(copy, name),
  ) as [string, string, string];
  renameSync(pages, kept);
  // What was built with the last fault makes the next build quick.
  if (existsSync(faulty)) renameSync(faulty, pages);
  try {
    execFileSync(join(copy, "script/build-pages"), { stdio: "pipe" });
    return run();
  } finally {
    renameSync(pages, faulty);
    renameSync(kept, pages);
  }
}

function runTests(
  tests: readonly string[],
  options: readonly string[] = [],
): { failedFiles: string[]; failedTests: string[]; areAllSkipped: boolean; seconds: number } {
  const startedAt = performance.now();
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const { stderr } = spawnSync(
    process.execPath,
    [
      join(PROJECT, "node_modules/vitest/vitest.mjs"),
      ...["run", "--reporter=json", `--outputFile=${report}`, "--exclude=**/*fuzz*", ...options, ...tests],
    ],
    {
      cwd: copy,
      encoding: "utf8",
      env: { ...process.env, PAGES_BUILT: "1", PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    },
  );
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  if (!existsSync(report)) throw new Error(`vitest did not run: ${stderr}`);
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const failures = testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(copy, name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    if (failed.length > 0) return failed.map(({ fullName }) => ({ file, test: `${file}: ${fullName}` }));
    return status === "failed" ? [{ file, test: `${file}, which does not start` }] : [];
  });
  return {
    failedFiles: [...new Set(failures.map(({ file }) => file))],
    failedTests: failures.map(({ test }) => test),
    areAllSkipped: testResults.every(({ assertionResults }) =>
      assertionResults.every(({ status }) => status === "skipped"),
    ),
    seconds,
  };
}

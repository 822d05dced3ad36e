import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { FAULTS, type Fault } from "./faults.ts";

const PROJECT = join(import.meta.dirname, "..");
const MIN_CAUGHT_SHARE = 38 / 40;

const wanted = process.argv[2] ?? "";
const faults = FAULTS.filter(({ file, fault }) => `${file} ${fault}`.includes(wanted));
for (const fault of faults) assertPlantable(fault);

const copy = copyProject();
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));

console.log("Running the tests without a fault ...");
const broken = runTests([...new Set(faults.flatMap(({ tests }) => tests))]).failedFiles;
for (const file of broken) console.log(`   left out, it fails without a fault: ${file}`);

let caught = 0;
for (const [n, { file, find, replace, fault, tests }] of faults.entries()) {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(
    path,
    original.replace(find, () => replace),
  );
  const { failedFiles, seconds } = runTests(tests, ["--bail=1", ...broken.map((one) => `--exclude=${one}`)]);
  writeFileSync(path, original);
  const isCaught = failedFiles.length > 0;
  if (isCaught) caught += 1;
  const verdict = isCaught ? "caught  " : "SURVIVED";
  console.log(`${String(n + 1).padStart(2)} ${verdict} ${String(seconds).padStart(3)} s  ${file}: ${fault}`);
}
console.log(`${caught} of ${faults.length} faults caught`);
if (broken.length > 0 || caught < faults.length * MIN_CAUGHT_SHARE) process.exitCode = 1;

/** @throws when the code has moved on: a fault that cannot be planted would count as a test that catches nothing */
function assertPlantable({ file, find, replace, fault }: Fault): void {
  const places = readFileSync(join(PROJECT, file), "utf8").split(find).length - 1;
  if (places !== 1) throw new Error(`${file} has ${places} places for "${fault}": adapt script/faults.ts`);
  if (find === replace) throw new Error(`"${fault}" changes nothing`);
}

/** Everything that is tracked, as it is in the working tree. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-mutate-"));
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: PROJECT, encoding: "utf8" }).split("\0");
  for (const file of files.filter(Boolean)) {
    cpSync(join(PROJECT, file), join(folder, file), { recursive: true, mode: 0, dereference: false });
  }
  for (const linked of ["node_modules", ".next"]) symlinkSync(join(PROJECT, linked), join(folder, linked));
  return folder;
}

function runTests(
  tests: readonly string[],
  options: readonly string[] = [],
): { failedFiles: string[]; seconds: number } {
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
      // The pages are the project's own: no fault is planted in what only they bundle.
      env: { ...process.env, PAGES_BUILT: "1", PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    },
  );
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  if (!existsSync(report)) throw new Error(`vitest did not run: ${stderr}`);
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
  };
  const failed = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" || assertionResults.some((one) => one.status === "failed"),
  );
  return { failedFiles: failed.map(({ name }) => relative(copy, name)), seconds };
}

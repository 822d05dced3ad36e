/** Says on stderr how far the run is; stdout is for the tables. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

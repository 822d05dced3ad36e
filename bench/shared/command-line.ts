/** Reads the command line of a bench; says what is wrong with it and exits when there is nothing to run. */
export function readOrExit<Options>(help: string, read: () => Options | "help"): Options {
  try {
    const options = read();
    if (options !== "help") return options;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
  process.stdout.write(help);
  process.exit(0);
}

/** @throws Error that names the option */
export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new Error(`${name}: expected a whole number from ${min} to ${max}`);
  }
  return number;
}

/** The parts of a bench that `--only` names, between commas. @throws Error for one that there is not */
export function partsOf<Part extends string>(text: string, parts: readonly Part[]): Part[] {
  return text.split(",").map((name) => {
    const part = parts.find((known) => known === name);
    if (part === undefined) {
      throw new Error(`--only: there is no part "${name}", expected some of ${parts.join(", ")}`);
    }
    return part;
  });
}

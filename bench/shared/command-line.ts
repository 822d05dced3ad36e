import { parseArgs } from "node:util";

/** What a bench takes besides `--only` and `--help`, each by the name of its option. */
type Accepted<Name extends string, Part extends string, Text extends string, Flag extends string> = {
  /** Whole numbers: by default, at least, at most. */
  numbers: Record<Name, readonly [byDefault: number, min: number, max: number]>;
  parts: readonly Part[];
  texts?: readonly Text[];
  flags?: readonly Flag[];
};

type ParsedOptions<Name extends string, Part extends string, Text extends string, Flag extends string> = {
  numbers: Record<Name, number>;
  parts: Part[];
  /** `null`: not given. */
  texts: Record<Text, string | null>;
  flags: Record<Flag, boolean>;
};

/** Reads the command line of a bench; says what is wrong with it and exits when there is nothing to run. */
export function readCommandLine<
  Options,
  Name extends string,
  Part extends string,
  Text extends string = never,
  Flag extends string = never,
>(
  args: readonly string[],
  help: string,
  { numbers, parts, texts = [], flags = [] }: Accepted<Name, Part, Text, Flag>,
  optionsOf: (given: ParsedOptions<Name, Part, Text, Flag>) => Options,
): Options {
  const bounds = Object.entries(numbers) as [Name, Accepted<Name, Part, Text, Flag>["numbers"][Name]][];
  const text = (name: string) => [name, { type: "string" }] as const;
  const flag = (name: string) => [name, { type: "boolean" }] as const;
  return readOrExit(help, () => {
    const options = Object.fromEntries([
      ...[...Object.keys(numbers), ...texts, "only"].map(text),
      ...[...flags, "help"].map(flag),
    ]);
    const values = parseArgs({ args: [...args], options }).values as Record<
      string,
      string | true | undefined
    >;
    if (values.help) return "help";
    return optionsOf({
      numbers: record(bounds, ([name, [byDefault, min, max]]) => [
        name,
        wholeNumber(`--${name}`, String(values[name] ?? byDefault), min, max),
      ]),
      parts: values.only === undefined ? [...parts] : partsOf(String(values.only), parts),
      texts: record(texts, (name) => [name, values[name] === undefined ? null : String(values[name])]),
      flags: record(flags, (name) => [name, values[name] === true]),
    });
  });
}

function record<Item, Name extends string, Value>(
  items: readonly Item[],
  entryOf: (item: Item) => [Name, Value],
): Record<Name, Value> {
  return Object.fromEntries(items.map(entryOf)) as Record<Name, Value>;
}

function readOrExit<Options>(help: string, read: () => Options | "help"): Options {
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
function wholeNumber(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new Error(`${name}: expected a whole number from ${min} to ${max}`);
  }
  return number;
}

/** The parts of a bench that `--only` names, between commas. @throws Error for one that there is not */
function partsOf<Part extends string>(text: string, parts: readonly Part[]): Part[] {
  return text.split(",").map((name) => {
    const part = parts.find((known) => known === name);
    if (part === undefined) {
      throw new Error(`--only: there is no part "${name}", expected some of ${parts.join(", ")}`);
    }
    return part;
  });
}

import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<Given extends Options> = ReturnType<
  typeof parseArgs<{ options: Given & { help: { type: "boolean" } }; allowPositionals: true }>
>;

/** Reads the arguments of a script; prints the usage and exits for `--help` and for options that it does not have. */
export function readArguments<const Given extends Options>(usage: string, options: Given): Parsed<Given> {
  const parsed = parseOrExit(usage, options);
  if (parsed.values.help) {
    console.log(usage);
    process.exit();
  }
  return parsed as Parsed<Given>;
}

function parseOrExit(usage: string, options: Options) {
  try {
    return parseArgs({ options: { ...options, help: { type: "boolean" } }, allowPositionals: true });
  } catch (error) {
    return exitWithUsage(usage, (error as Error).message);
  }
}

/** Prints what is wrong with the arguments, and the usage. */
export function exitWithUsage(usage: string, problem: string): never {
  console.error(`${problem}\n\n${usage}`);
  process.exit(2);
}

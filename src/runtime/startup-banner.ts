import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { DEFAULT_FORMATS } from "../config/variables.ts";
import { SLOTS, variablePrefix } from "../domain/slot.ts";

/** Printed after `script/server`: where to go, and how to sign in. */
export function startupBanner(
  config: Config,
  { url, simulatorUrl }: { url: string; simulatorUrl: string | null },
): string {
  const variables = sameVariables(config, simulatorUrl);
  // The host of links and return URLs: a session cookie belongs to one host.
  const site = config.port === 0 ? url : config.appUrl;
  const provider =
    simulatorUrl === null
      ? "The payment provider simulator is off."
      : `Pay without money: a payment provider is simulated at ${simulatorUrl}`;
  return `
  Tollgate is at ${site}
  To sign in, sign up there; then, in a second terminal, make yourself an administrator:
    ${variables}npm run -s tollgate -- users promote <your email address>

  ${provider}
  Webhooks come in at ${site}/api/webhooks/provider-a (and -b, -c); the API is described at ${site}/api/docs
  Database and secrets are in ${resolve(config.dataDir)}

  More to try:
    ${variables}npm run -s tollgate -- simulate --slot provider-a --events 200
    ${variables}npm run -s tollgate -- webhooks list
    ${variables}npm run -s tollgate -- doctor

`;
}

/** Variables that the command line needs too, to find the server and to sign as its slots verify. */
function sameVariables({ port, dataDir, slots }: Config, simulatorUrl: string | null): string {
  return [
    ...SLOTS.filter((slot) => slots[slot].format !== DEFAULT_FORMATS[slot]).map(
      (slot) => `${variablePrefix(slot)}_ADAPTER=${slots[slot].format} `,
    ),
    ...(port === 3000 ? [] : [`PORT=${port} `]),
    ...(dataDir === ".data" ? [] : [`DATA_DIR=${quoted(dataDir)} `]),
    ...(simulatorUrl === null || simulatorUrl.endsWith(":3001")
      ? []
      : [`SIMULATOR_PORT=${new URL(simulatorUrl).port} `]),
  ].join("");
}

/** For a shell, where that is needed. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

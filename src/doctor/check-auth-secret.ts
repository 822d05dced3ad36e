import type { Config } from "../config/config.ts";
import { broken, type Finding, good, warning } from "./finding.ts";

const MIN_DISTINCT_CHARACTERS = 12;

/** The secret that signs all sessions. */
export function checkAuthSecret({ authSecret, databaseUrl }: Config): Finding {
  if (authSecret === null) {
    return databaseUrl === null
      ? good("auth secret", "generated, in DATA_DIR")
      : broken("auth secret", "AUTH_SECRET is not set", "Set it to the output of: openssl rand -base64 32");
  }
  if (new Set(authSecret).size < MIN_DISTINCT_CHARACTERS) {
    const remedy =
      "Set AUTH_SECRET to the output of: openssl rand -base64 32. This signs everybody out, and makes second factors unusable: first read docs/how-to/when-something-is-wrong.md.";
    return warning("auth secret", "can be guessed: it repeats a few characters", remedy);
  }
  return good("auth secret", "set");
}

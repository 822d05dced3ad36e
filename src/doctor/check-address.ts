import type { Config } from "../config/config.ts";
import { broken, type Finding, good, warning } from "./finding.ts";
import { look } from "./look.ts";

export type AddressLook = {
  finding: Finding;
  /** How far the server's clock is ahead of ours; `null`: not known. */
  aheadMs: number | null;
};

/** Whether the public origin leads to a Tollgate that is ready. */
export async function checkAddress(config: Config): Promise<AddressLook> {
  const { appUrl } = config;
  const answer = await look(`${appUrl}/api/ready`);
  if (typeof answer === "string") {
    const remedy = "Start the server with script/server, or set APP_URL to where it is.";
    return { finding: broken("address", `nothing answers at ${appUrl}: ${answer}`, remedy), aheadMs: null };
  }
  const { status, text, theirsMs, oursMs } = answer;
  // A Date header has lost half a second on average.
  const aheadMs = theirsMs === null ? null : theirsMs + 500 - oursMs;
  return { finding: judge(config, { status, text }), aheadMs };
}

function judge(config: Config, { status, text }: { status: number; text: string }): Finding {
  const { appUrl } = config;
  if (status === 503) {
    return broken(
      "address",
      `${appUrl} is not ready`,
      "Look at the server's log: it does not reach its database.",
    );
  }
  if (status !== 200 || !text.includes('"ready"')) {
    return broken("address", `${appUrl}/api/ready answers ${status}`, "Check what APP_URL leads to.");
  }
  const { protocol, hostname } = new URL(appUrl);
  const isServing = config.isProduction && config.databaseUrl !== null;
  if (isServing && /^(localhost|127\.|\[::1\])/.test(hostname)) {
    return broken(
      "address",
      `${appUrl} is this machine alone`,
      "Set APP_URL to the public origin: people are sent back there.",
    );
  }
  if (isServing && protocol !== "https:") {
    return broken(
      "address",
      `${appUrl} is not encrypted`,
      "Serve it with https and set APP_URL so: cookies and webhooks pass there.",
    );
  }
  return good("address", `${appUrl} is ready`);
}

const FEW_CHARACTERS = 12;

/** What signs everybody's session. */
export function checkAuthSecret({ authSecret, databaseUrl }: Config): Finding {
  if (authSecret === null) {
    return databaseUrl === null
      ? good("auth secret", "made for this machine, in DATA_DIR")
      : broken("auth secret", "AUTH_SECRET is not set", "Set it to the output of: openssl rand -base64 32");
  }
  if (new Set(authSecret).size < FEW_CHARACTERS) {
    const remedy =
      "Set AUTH_SECRET to the output of: openssl rand -base64 32 (everybody is signed out by that).";
    return warning("auth secret", "can be guessed: hardly any different characters", remedy);
  }
  return good("auth secret", "set");
}

import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/loopback.ts";
import { broken, type Finding, good } from "./finding.ts";
import { type ProbeFailure, probe } from "./probe.ts";

export type AddressCheck = {
  finding: Finding;
  /** How far the server's clock is ahead of ours; `null`: unknown. */
  aheadMs: number | null;
};

/** Whether APP_URL leads to a Tollgate server that is ready. */
export async function checkAddress(config: Config): Promise<AddressCheck> {
  const { appUrl } = config;
  const response = await probe(`${appUrl}/api/ready`);
  if ("problem" in response) {
    const remedy = "Start the server with script/server, or set APP_URL to its address.";
    return { finding: broken("address", ...explainNoResponse(appUrl, response, remedy)), aheadMs: null };
  }
  return { finding: judge(config, response), aheadMs: response.clockAheadMs };
}

/** The detail and the remedy. */
export function explainNoResponse(url: string, failure: ProbeFailure, remedy: string): [string, string] {
  const { problem } = failure;
  if (!failure.isUntrusted) return [`nothing responds at ${url}: ${problem}`, remedy];
  return [
    `the certificate at ${url} is not trusted: ${problem}`,
    "Give the proxy a valid certificate for this name, followed by its intermediate ones: providers and browsers refuse it otherwise.",
  ];
}

function judge(config: Config, { status, text }: { status: number; text: string }): Finding {
  const { appUrl } = config;
  if (status === 503) {
    return broken("address", `${appUrl} is not ready`, remedyOfUnavailable(text));
  }
  if (status !== 200 || !text.includes('"ready"')) {
    return broken(
      "address",
      `${appUrl}/api/ready returned ${status}`,
      "Another program responds there: check APP_URL.",
    );
  }
  const isServing = config.isProduction && config.databaseUrl !== null;
  if (isServing && isLoopback(appUrl)) {
    return broken(
      "address",
      `${appUrl} can only be reached from this machine`,
      "Set APP_URL to the public origin: links and redirects lead there.",
    );
  }
  if (isServing && !appUrl.startsWith("https://")) {
    return broken(
      "address",
      `${appUrl} is not encrypted`,
      "Serve it over https and set APP_URL accordingly: cookies and webhooks pass through it.",
    );
  }
  return good("address", `${appUrl} is ready`);
}

/** Of a response with status 503: the server's own, or one of a proxy that has no server to pass it on to. */
export function remedyOfUnavailable(text: string): string {
  return text.includes('"error":"Service unavailable"')
    ? "The server cannot reach its database, or is stopping: see its log."
    : "A proxy responds in its place: start the server, and check where the proxy looks for it.";
}

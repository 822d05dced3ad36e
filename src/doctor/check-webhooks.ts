import { randomUUID } from "node:crypto";
import type { Config } from "../config/config.ts";
import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { ADAPTERS } from "../providers/registry.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { look } from "./look.ts";

/** Sends a signed event of a type that has no effects the way that the provider's come. It is seen in the log. */
export async function checkWebhook(
  config: Config,
  slot: Slot,
  { secrets, isUsed }: { secrets: readonly string[]; isUsed: boolean },
): Promise<Finding> {
  const { secretVariable, format } = config.slots[slot];
  const check = `${slot} webhook`;
  const [secret] = secrets;
  if (secret === undefined) {
    const remedy = `Set ${secretVariable} to the signing secret that the provider shows at its endpoint.`;
    return isUsed
      ? broken(check, `${secretVariable} is not set: every delivery is refused`, remedy)
      : skipped(check, "no secret: the slot is not in use");
  }
  const url = `${config.appUrl}/api/webhooks/${slot}`;
  const { rawBody, headers } = signedTest(format, secret);
  const answer = await look(url, { method: "POST", headers, body: rawBody });
  if (typeof answer === "string") {
    return broken(
      check,
      `nothing answers at ${url}: ${answer}`,
      "Start the server; check APP_URL and the proxy before it.",
    );
  }
  const { status, text, location } = answer;
  if (status === 200 && /"ignored":true/.test(text)) {
    const rotation = secrets.length > 1 ? ` (the first of ${secrets.length} secrets)` : "";
    return good(check, `a signed test event came through${rotation}`);
  }
  if (status === 200) {
    return warning(check, `${url} answers, but not as Tollgate does`, "Check what APP_URL leads to.");
  }
  return broken(check, `${url} answers ${status}`, remedyOf(status, { secretVariable, location }));
}

function remedyOf(
  status: number,
  { secretVariable, location }: { secretVariable: string; location: string | null },
) {
  if (status === 400) {
    return `The server has another secret, or its clock is off: start it again with this ${secretVariable}. A proxy must not change the body.`;
  }
  if (status >= 300 && status < 400) {
    return `It redirects${location ? ` to ${location}` : ""}, which providers do not follow: set APP_URL to where it ends.`;
  }
  if (status === 503) return "The server does not reach its database: look at its log.";
  return "Something else answers there, a proxy or a firewall: let POST through to the server as it is.";
}

/** An event of a type that no provider has, worded as the slot's provider would. */
function signedTest(
  format: WireFormat,
  secret: string,
): { rawBody: Buffer; headers: Record<string, string> } {
  const eventId = `evt_doctor_${randomUUID()}`;
  const now = new Date();
  const eventType = "tollgate.doctor";
  const adapter = ADAPTERS.of(format);
  const body = adapter.traits.inertEvent({ eventId, eventType, at: now });
  const rawBody = Buffer.from(JSON.stringify(body));
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const signature = adapter.sign(rawBody, { secret, nowSeconds, eventId, eventType });
  const headers = {
    "content-type": "application/json",
    "content-length": String(rawBody.length),
    ...signature,
  };
  return { rawBody, headers };
}

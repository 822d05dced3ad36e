import type { WireFormat } from "../../../src/providers/adapter.ts";
import { SECRETS } from "../../support/variables.ts";
import { endpoint } from "../endpoint.ts";
import { press, simulator } from "../test-context.ts";

const CARD = "4242424242424242";

/** One running simulator whose provider-a speaks the format, and an endpoint that stores its deliveries. */
export async function sdkContext(format: WireFormat, secret: string = SECRETS["provider-a"]) {
  const hook = await endpoint(format, secret);
  const sim = await simulator({
    formats: { "provider-a": format },
    deliverTo: () => hook.url,
    secret,
  });
  return {
    sim,
    secret,
    apiUrl: `${sim.url}/provider-a`,
    /** As the buyer at the hosted checkout. */
    pay: async (
      checkoutUrl: string,
      email = "buyer@example.com",
      fields: Readonly<Record<string, string>> = {},
    ) => {
      const paid = await press(checkoutUrl, { action: "pay", email, card: CARD, ...fields });
      if (paid.status >= 400) throw new Error(`${paid.status} ${paid.text}`);
      await sim.settle();
    },
    passTime: sim.passTime,
    /** What the endpoint has received. */
    deliveries: async () => {
      await sim.settle();
      return hook.arrivals.map(({ rawBody, headers, eventType }) => ({
        body: rawBody.toString(),
        headers,
        eventType,
      }));
    },
  };
}

import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

/** Connections to endpoints that stay open between two events. */
export type EndpointConnections = {
  agent(protocol: string): HttpAgent | HttpsAgent;
  close(): void;
};

/** The option of a request that binds its connection to the addresses that were checked for it. */
export type CheckedAddresses = { checkedAddresses: string };

const OPTIONS: AgentOptions = {
  keepAlive: true,
  /** Closed when it has not been used for so long; sooner where the endpoint says so. */
  timeout: 4_000,
  /** Per endpoint, as many as concurrent attempts. */
  maxFreeSockets: 8,
};

export function openEndpointConnections(): EndpointConnections {
  const http = new CheckedHttpAgent(OPTIONS);
  const https = new CheckedHttpsAgent(OPTIONS);
  return {
    agent: (protocol) => (protocol === "https:" ? https : http),
    close: () => {
      http.destroy();
      https.destroy();
    },
  };
}

type NameOptions = Parameters<HttpAgent["getName"]>[0] & Partial<CheckedAddresses>;

class CheckedHttpAgent extends HttpAgent {
  override getName(options?: NameOptions): string {
    return `${super.getName(options)}:${options?.checkedAddresses}`;
  }
}

class CheckedHttpsAgent extends HttpsAgent {
  override getName(options?: NameOptions): string {
    return `${super.getName(options)}:${options?.checkedAddresses}`;
  }
}

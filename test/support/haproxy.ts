import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cleanedUp } from "./cleanup.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { sendRequest } from "./http.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export type LoadBalancer = {
  url: string;
  /** Resolves once this many servers are ready by its own checks. */
  untilUp(servers: number): Promise<void>;
  remove(): Promise<unknown>;
};

/** HAProxy as docs/how-to/run-several-servers.md has it, but for client addresses, which tests make up. */
export async function startHaproxy(program: string, ports: readonly number[]): Promise<LoadBalancer> {
  const folder = await temporaryFolder();
  const [port, statusPort, settings] = [await freePort(), await freePort(), join(folder, "haproxy.cfg")];
  await writeFile(settings, settingsFor({ port, statusPort, ports }));
  const balancer = spawn(program, ["-q", "-f", settings], { stdio: "ignore" });
  await once(balancer, "spawn");
  const statusUrl = `http://127.0.0.1:${statusPort}`;
  const serversUp = async () => (await sendRequest(statusUrl, "GET", "/").catch(() => null))?.text ?? null;
  return {
    url: `http://127.0.0.1:${port}`,
    untilUp: (servers) => eventually(serversUp, String(servers), 120_000),
    remove: cleanedUp(async () => balancer.kill("SIGKILL")),
  };
}

function settingsFor(options: { port: number; statusPort: number; ports: readonly number[] }): string {
  const { port, statusPort, ports } = options;
  return `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 10s
  option http-buffer-request
  option redispatch
  option http-server-close
  retries 5
  retry-on conn-failure empty-response
  option forwardfor if-none
frontend clients
  bind 127.0.0.1:${port}
  default_backend tollgate
frontend status
  bind 127.0.0.1:${statusPort}
  http-request return status 200 content-type text/plain lf-string "%[nbsrv(tollgate)]"
backend tollgate
  balance roundrobin
  http-request disable-l7-retry unless { method GET HEAD } or { path_reg ^/api/(v[0-9]+/)?webhooks/ }
  option httpchk GET /api/ready
  default-server check inter 500 fall 3 rise 1
${ports.map((serverPort, index) => `  server s${index} 127.0.0.1:${serverPort}`).join("\n")}
`;
}

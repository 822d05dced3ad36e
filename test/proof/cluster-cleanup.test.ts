import { connect } from "node:net";
import { it } from "vitest";
import { cleanUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { describeWith, findProgram } from "../support/installed-programs.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describeWith("a cluster that fails while it starts", { pgbouncer: findProgram("pgbouncer") }, (programs) => {
  it("leaves no PgBouncer behind", async () => {
    const { url } = await startPgBouncer(programs.pgbouncer, await temporaryFolder(), {
      postgresPort: await freePort(),
      poolSize: 1,
    });
    const port = Number(new URL(url).port);
    await eventually(() => isListening(port), true);
    await cleanUp();
    await eventually(() => isListening(port), false);
  });
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

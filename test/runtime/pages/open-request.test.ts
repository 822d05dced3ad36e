import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { createAdmin, createUser } from "../../support/people.ts";
import { openRawConnection } from "../../support/raw-connection.ts";
import { encodeArguments, findServerAction, formBody } from "../../support/server-action.ts";

/** Long enough for the server to identify the caller, and to wait for the body. */
const HELD_BACK_MS = 1_000;

describe("an action whose body is held back", () => {
  const { server, test } = freshServer();
  beforeAll(async () => {
    await builtPages();
    // Loads Next.js, which takes longer than the body is held back.
    await fetch(new URL("/sign-in", server.url));
  }, 180_000);

  /** Sends the body only after `meanwhile`. @returns the response */
  async function sendLate(
    [page, ...headers]: [page: string, ...headers: string[]],
    { cookie, body, meanwhile }: { cookie: string; body: FormData; meanwhile(): Promise<unknown> },
  ): Promise<string> {
    const encoded = new Response(body);
    const bytes = Buffer.from(await encoded.arrayBuffer());
    const head = [
      `POST ${page} HTTP/1.1`,
      "Host: localhost",
      `Cookie: ${cookie}`,
      "Connection: close",
      ...headers,
      `Content-Type: ${encoded.headers.get("content-type")}`,
      `Content-Length: ${bytes.length}`,
    ];
    const connection = openRawConnection(server.url, `${head.join("\r\n")}\r\n\r\n`);
    await sleep(HELD_BACK_MS);
    await meanwhile();
    connection.socket.write(bytes);
    return connection.closed;
  }

  /** Called by a script of the page. */
  async function promoteLate(meanwhile: (adminId: string) => Promise<unknown>): Promise<string> {
    const [admin, accomplice] = [await createAdmin(test), await createUser(test)];
    const { id, pages } = findServerAction("changeUserRole");
    await sendLate([pages[0] as string, `Next-Action: ${id}`, "Accept: text/x-component"], {
      cookie: admin.cookie,
      body: encodeArguments([{ userId: accomplice.id, role: "admin" }]),
      meanwhile: () => meanwhile(admin.id),
    });
    const [row] = await test.rows<{ role: string }>(`select role from "user" where id = $1`, [accomplice.id]);
    return row?.role ?? "";
  }

  it("is run when nothing has changed", async () => {
    expect(await promoteLate(async () => {})).toBe("admin");
  });

  it("promotes nobody for an administrator who was demoted meanwhile", async () => {
    const demote = (id: string) => test.rows(`update "user" set role = 'user' where id = $1`, [id]);
    expect(await promoteLate(demote)).toBe("user");
  });

  it("changes nothing for a session that was revoked meanwhile, and leads to the sign-in page", async () => {
    const { id, name, cookie } = await createUser(test);
    const action = findServerAction("updateProfile");
    const response = await sendLate([action.pages[0] as string, "Accept: text/html"], {
      cookie,
      body: formBody(action, { name: "Changed" }),
      meanwhile: () => test.rows("delete from session where user_id = $1", [id]),
    });
    expect(response).toMatch(/^HTTP\/1\.1 303 [\s\S]*\r\nlocation: \/sign-in/i);
    expect(await test.rows(`select name from "user" where id = $1`, [id])).toEqual([{ name }]);
  });
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importUsers } from "../../src/import/import-users.ts";
import type { ImportOptions, ImportReport, Source } from "../../src/import/run-import.ts";
import { betterAuthUsers } from "../../src/import/sources/better-auth.ts";
import { stripeCustomers } from "../../src/import/sources/stripe-customers.ts";
import { userFile } from "../../src/import/sources/user-file.ts";
import type { SourceUser } from "../../src/import/user-row.ts";
import { isLockTimeout } from "../../src/store/transaction.ts";
import { eventually } from "../support/eventually.ts";
import { stripeContext } from "../support/stripe-context.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectFailureWithoutAudit } from "../support/without-audit.ts";
import { EMPTY_AUDIT } from "./empty-audit.ts";

const context = stripeContext({ users: 0 });

const QUIET: ImportOptions = { dryRun: false, notify: false, progressed: () => {}, waiting: () => {} };

async function fileOf(name: string, content: string | Buffer): Promise<Source<SourceUser>> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, name), content);
  return userFile(join(folder, name));
}

async function imported(rows: unknown[], options: Partial<ImportOptions> = {}): Promise<ImportReport> {
  const source = await fileOf("users.json", JSON.stringify(rows));
  return importUsers(context.runtime.intake, source, { ...QUIET, ...options });
}

const users = () =>
  context.test.rows('select id, external_id, email, name, locale from "user" order by id collate "C"');
const counts = (created: number, updated: number, skipped: number) => ({ created, updated, skipped });

const auditEntries = () =>
  context.test.rows(
    "select actor_kind, action, target_type, target_id, details from audit_entry order by id",
  );

const ANN = { id: "ann", externalId: "7", email: "Ann@Example.com", name: "Ann", locale: "de" };
const STORED_ANN = { id: "ann", external_id: "7", email: "ann@example.com", name: "Ann", locale: "de" };

const EXPECTED_ID = "expected 1 to 255 characters, without control characters or surrounding spaces";

describe("importing users", () => {
  it("creates them without a password, and changes nothing the second time", async () => {
    expect(await imported([ANN])).toEqual({ ...counts(1, 0, 0), unmatched: [] });
    expect(await users()).toEqual([STORED_ANN]);
    expect(await context.test.rows("select id from account")).toEqual([]);
    expect(await imported([ANN])).toEqual({ ...counts(0, 0, 1), unmatched: [] });
  });

  it("drops the links to an old address, and keeps those of people whose address stays", async () => {
    await imported([ANN, { id: "bob", email: "bob@example.com" }]);
    await context.test.rows(
      `insert into verification (id, identifier, value, expires_at)
       select id, 'reset-password:' || id, id, now() + interval '1 hour' from "user"`,
    );
    await imported([
      { id: "ann", email: "new@example.com" },
      { id: "bob", email: "bob@example.com", name: "Robert" },
    ]);
    expect(await context.test.rows("delete from verification returning value")).toEqual([{ value: "bob" }]);
  });

  it("leaves out ids that could not be stored, or by which nobody could name the user", async () => {
    const rows = [
      { id: "\ud800", email: "half@example.com" },
      { externalId: "\ud800", email: "half@example.com" },
      { externalId: "line\nbreak", email: "line@example.com" },
      ANN,
    ];
    expect(await imported(rows)).toMatchObject({
      ...counts(1, 0, 0),
      unmatched: [
        { reason: `id: ${EXPECTED_ID}` },
        { reason: `externalId: ${EXPECTED_ID}` },
        { reason: `externalId: ${EXPECTED_ID}` },
      ],
    });
  });

  it("leaves out ids that are blank, or begin or end with white space", async () => {
    const email = "space@example.com";
    const rows = [" ", " x", "x ", "x\u00a0"].flatMap((id) => [
      { id, email },
      { externalId: id, email },
    ]);
    const { created, unmatched } = await imported([...rows, { id: "a b", externalId: "c d", email }]);
    expect(created).toBe(1);
    expect(unmatched.map(({ reason }) => reason)).toEqual(
      rows.map((row) => `${"id" in row ? "id" : "externalId"}: ${EXPECTED_ID}`),
    );
  });

  it("leaves out ids with control characters", async () => {
    const email = "control@example.com";
    const rows = ["a\tb", "a\nb", "a\u001b[2Jb", "a\u0085b"].flatMap((id) => [
      { id, email },
      { externalId: id, email },
    ]);
    const { created, unmatched } = await imported(rows);
    expect(created).toBe(0);
    expect(unmatched.map(({ reason }) => reason)).toEqual(
      rows.map((row) => `${"id" in row ? "id" : "externalId"}: ${EXPECTED_ID}`),
    );
  });

  it("is recorded in the audit log with what it changed, page by page, and not without changes", async () => {
    await context.test.rows(EMPTY_AUDIT);
    const rows = Array.from({ length: 501 }, (_, n) => ({ id: `u${n}`, email: `u${n}@example.com` }));
    await imported(rows, { dryRun: true });
    expect(await auditEntries()).toEqual([]);
    await imported(rows);
    await imported(rows);
    const id = expect.stringMatching(/^[\w-]{43}$/);
    const entry = { actor_kind: "operator", action: "users.imported", target_type: "import", target_id: id };
    expect(await auditEntries()).toEqual([
      { ...entry, details: { created: 500, updated: 0, notify: false } },
      { ...entry, details: { created: 1, updated: 0, notify: false } },
    ]);
  });

  it("commits a page with its audit entry or not at all", async () => {
    await expectFailureWithoutAudit(context.test, () => imported([ANN]));
    expect(await users()).toEqual([]);
    expect(await imported([ANN])).toMatchObject(counts(1, 0, 0));
  });

  it("reads CSV with quotes, line breaks, empty cells and a byte order mark", async () => {
    const source = await fileOf(
      "users.csv",
      `\uFEFFid,externalId,email,name,locale\nann,7,Ann@Example.com,"Ann ""A"",\nB",de-AT\n,8,bob@example.com,,\n`,
    );
    const report = await importUsers(context.runtime.intake, source, QUIET);
    expect(report).toEqual({ ...counts(2, 0, 0), unmatched: [] });
    const imported = await context.test.rows(
      'select external_id, name, locale from "user" order by external_id',
    );
    expect(imported).toMatchObject([
      { external_id: "7", locale: "de" },
      { external_id: "8", name: "bob", locale: "en" },
    ]);
  });

  it("lists rows that are invalid, and imports the others", async () => {
    const report = await imported([
      { ...ANN, email: "nobody" },
      { id: "x" },
      "no object",
      null,
      { email: "b@example.com" },
    ]);
    expect(report).toMatchObject({
      ...counts(1, 0, 0),
      unmatched: [
        { id: "ann", email: "nobody", reason: "email: expected an email address" },
        { id: "x", reason: "email: missing" },
        { item: 3, reason: "row: expected an object" },
        { item: 4, reason: "row: expected an object" },
      ],
    });
  });

  it("lists the rows of a CSV file whose cells do not fit its columns, by their line", async () => {
    const source = await fileOf(
      "users.csv",
      'externalId,email,name,locale\n1\n2,bob@example.com,Smith, Bob,de\n\n3,cy@example.com,"Cy\nD",en,\n',
    );
    expect(await importUsers(context.runtime.intake, source, QUIET)).toEqual({
      ...counts(1, 0, 0),
      unmatched: [
        { line: 2, id: null, externalId: "1", email: null, reason: "email: missing" },
        ...[{ line: 3, id: null, externalId: "2", email: "bob@example.com", reason: "row: too many cells" }],
      ],
    });
    expect(await users()).toMatchObject([{ external_id: "3", name: "Cy D" }]);
  });

  it("leaves out rows whose language is not supported, and reads regions and empty cells", async () => {
    const source = await fileOf(
      "users.csv",
      "id,email,locale\na,a@example.com,xx\nb,b@example.com,zh_Hans_CN\nc,c@example.com,\nd,d@example.com,fr-CA\n",
    );
    const line = (number: number, id: string) => ({
      line: number,
      id,
      reason: "locale: expected one of en, de, es, zh",
    });
    expect(await importUsers(context.runtime.intake, source, QUIET)).toMatchObject({
      ...counts(2, 0, 0),
      unmatched: [line(2, "a"), line(5, "d")],
    });
    expect(await users()).toMatchObject([
      { id: "b", locale: "zh" },
      { id: "c", locale: "en" },
    ]);
    expect(await imported([{ id: "e", email: "e@example.com", locale: false }])).toMatchObject({
      ...counts(0, 0, 0),
      unmatched: [{ reason: "locale: expected one of en, de, es, zh" }],
    });
  });

  it("says what is expected of each field, and reports empty cells as null", async () => {
    const source = await fileOf(
      "users.csv",
      `id,externalId,email,name,locale\na,,a@example.com,${"x".repeat(101)},\n,b,b@example.com,,fr\n`,
    );
    expect((await importUsers(context.runtime.intake, source, QUIET)).unmatched).toEqual([
      {
        line: 2,
        id: "a",
        externalId: null,
        email: "a@example.com",
        reason: "name: expected 1 to 100 characters, without control characters",
      },
      {
        line: 3,
        id: null,
        externalId: "b",
        email: "b@example.com",
        reason: "locale: expected one of en, de, es, zh",
      },
    ]);
  });

  it("reads CSV with line breaks of several systems", async () => {
    const source = await fileOf(
      "users.csv",
      "id,email,name\r\na,a@example.com,A\nb,b@example.com,B\rc,c@example.com,C",
    );
    expect(await importUsers(context.runtime.intake, source, QUIET)).toMatchObject(counts(3, 0, 0));
    expect(await users()).toMatchObject([{ name: "A" }, { name: "B" }, { name: "C" }]);
  });

  it("names the rows of a file that are left out", async () => {
    expect(await imported([ANN, { email: "" }, { ...ANN, externalId: "8" }])).toMatchObject({
      ...counts(1, 0, 0),
      unmatched: [
        { item: 2, reason: "email: expected an email address" },
        { item: 3, reason: 'externalId: the account has "7"' },
      ],
    });
  });

  it("leaves out numbers that JSON has rounded", async () => {
    const source = await fileOf(
      "users.json",
      '[{ "id": 175928847299117063, "email": "a@example.com" }, { "id": 9007199254740991, "email": "b@example.com" }]',
    );
    expect(await importUsers(context.runtime.intake, source, QUIET)).toMatchObject({
      ...counts(1, 0, 0),
      unmatched: [
        { email: "a@example.com", reason: "id: expected text, or a whole number up to 9007199254740991" },
      ],
    });
    expect(await users()).toMatchObject([{ id: "9007199254740991" }]);
  });

  it("adds what is missing to an account, and keeps what its owner has chosen", async () => {
    await imported([ANN]);
    const changed = { ...ANN, email: "ann@new.example", name: "Anna", locale: "es" };
    expect(await imported([changed])).toEqual({ ...counts(0, 1, 0), unmatched: [] });
    expect(await users()).toMatchObject([{ email: "ann@new.example", name: "Anna", locale: "es" }]);
    await context.test.rows(
      "insert into account (id, user_id, account_id, provider_id, password) values ('a', 'ann', 'ann', 'credential', 'x')",
    );
    expect(await imported([{ ...changed, name: "Other", locale: "zh" }])).toEqual({
      ...counts(0, 0, 1),
      unmatched: [],
    });
    expect(await imported([ANN])).toMatchObject({
      ...counts(0, 0, 0),
      unmatched: [{ id: "ann", reason: expect.stringMatching(/^email: the account has a password/) }],
    });
  });

  it("gives no external id to somebody who has signed up with an address without confirming it", async () => {
    await context.test.rows(
      "insert into \"user\" (id, name, email) values ('eve', 'Eve', 'bob@example.com')",
    );
    await context.test.rows(
      "insert into account (id, user_id, account_id, provider_id, password) values ('a', 'eve', 'eve', 'credential', 'x')",
    );
    const bob = { externalId: "8812", email: "bob@example.com", name: "Bob" };
    expect(await imported([bob])).toEqual({
      ...counts(0, 0, 0),
      unmatched: [
        {
          item: 1,
          id: null,
          externalId: "8812",
          email: "bob@example.com",
          reason: 'email: the account has not confirmed it; if it is theirs, name its id "eve"',
        },
      ],
    });
    expect(await users()).toMatchObject([{ id: "eve", external_id: null }]);
    expect(await imported([{ ...bob, externalId: null }])).toMatchObject(counts(0, 0, 1));
    expect(await imported([{ ...bob, id: "eve", externalId: "1" }])).toMatchObject(counts(0, 1, 0));
    await context.test.rows(`update "user" set external_id = null, email_verified = true`);
    expect(await imported([bob])).toMatchObject(counts(0, 1, 0));
    expect(await users()).toMatchObject([{ id: "eve", external_id: "8812", name: "Eve" }]);
  });

  it.each<[string, object, string]>([
    ["another account's address", { id: "bob", email: ANN.email }, 'the account has the id "ann"'],
    ["another external id", { ...ANN, externalId: "8" }, 'externalId: the account has "7"'],
    [
      "the id of one account and the address of another",
      { id: "ann", email: "cy@example.com" },
      "id, external id and address belong to different accounts",
    ],
    ["the id of a deleted account", { id: "gone", email: "gone@example.com" }, "id: its account was deleted"],
  ])("leaves out a row with %s", async (_, row, reason) => {
    await imported([ANN, { id: "cy", email: "cy@example.com" }]);
    await context.test.rows("insert into deleted_user (id) values ('gone')");
    const before = await users();
    expect(await imported([row])).toMatchObject({ ...counts(0, 0, 0), unmatched: [{ reason }] });
    expect(await users()).toEqual(before);
  });

  it("decides rows of the same file one after another", async () => {
    expect(await imported([ANN, { ...ANN, name: "Anna" }, { id: "bob", email: ANN.email }])).toMatchObject({
      ...counts(1, 1, 0),
      unmatched: [{ id: "bob" }],
    });
    expect(await users()).toEqual([{ ...STORED_ANN, name: "Anna" }]);
  });

  it("lets two users of a file exchange their addresses by way of a third one", async () => {
    const of = (id: string, email: string) => ({ id, email: `${email}@example.com` });
    await imported([of("a", "a"), of("b", "b")]);
    const rows = [of("a", "c"), of("b", "a"), of("a", "b")];
    expect(await imported(rows)).toEqual({ ...counts(0, 3, 0), unmatched: [] });
    expect(await users()).toMatchObject([of("a", "b"), of("b", "a")]);
  });

  it("gives an address to a user who is stored before the one who gives it up", async () => {
    const of = (id: string, email: string) => ({ id, email: `${email}@example.com` });
    await imported([of("b", "b"), of("a", "a")]);
    const rows = [of("a", "c"), of("b", "a")];
    expect(await imported(rows)).toEqual({ ...counts(0, 2, 0), unmatched: [] });
    expect(await users()).toMatchObject([of("a", "c"), of("b", "a")]);
  });

  it.each([
    [1, "is decided again"],
    [2, "is decided again"],
    [3, "ends the import"],
  ])("a page that meets %i sign-ups with its addresses %s", async (signUps) => {
    // Somebody who signs up between the look-up and the write. A sequence also counts what is rolled back.
    await context.test.rows("create sequence writes");
    await context.test.rows(
      `create function sign_up() returns trigger language plpgsql as $$ begin
         if nextval('writes') <= ${signUps} then raise exception 'duplicate' using errcode = '23505'; end if;
         return new;
       end $$`,
    );
    await context.test.rows(
      'create trigger sign_up before insert on "user" for each row execute function sign_up()',
    );
    try {
      if (signUps < 3) expect(await imported([ANN])).toEqual({ ...counts(1, 0, 0), unmatched: [] });
      else await expect(imported([ANN])).rejects.toThrow("duplicate");
      expect(await users()).toEqual(signUps < 3 ? [STORED_ANN] : []);
    } finally {
      await context.test.rows('drop trigger sign_up on "user"');
      await context.test.rows("drop function sign_up");
      await context.test.rows("drop sequence writes");
    }
  });

  it("keeps what a person is changing at that moment", async () => {
    await imported([{ id: "bob", email: "bob@example.com", name: "Bob" }]);
    const connection = await context.test.database.connection();
    await connection.script(`begin; update "user" set name = 'Rob', locale = 'zh'`);
    const add = (): Promise<ImportReport> =>
      imported([{ externalId: "8", email: "bob@example.com" }]).catch((error) => {
        // On a busy machine the change may take longer.
        if (isLockTimeout(error)) return add();
        throw error;
      });
    const adding = add();
    await eventually(
      () =>
        context.test.rows(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      [{}],
    );
    await connection.script("commit");
    connection.release({ healthy: true });
    expect(await adding).toMatchObject(counts(0, 1, 0));
    expect(await users()).toEqual([
      { id: "bob", external_id: "8", email: "bob@example.com", name: "Rob", locale: "zh" },
    ]);
  });

  it("changes nothing in a dry run, which reports the same", async () => {
    const rows = [ANN, { id: "x", email: "no" }];
    const dry = await imported(rows, { dryRun: true });
    expect([await users(), await context.test.rows("select id from import_run")]).toEqual([[], []]);
    expect(await imported(rows)).toEqual(dry);
  });

  it("emits events only on request", async () => {
    const emitted = () => context.test.rows("select type from outbound_event order by id");
    await imported([ANN]);
    expect(await emitted()).toEqual([]);
    await imported([{ ...ANN, name: "Anna" }], { notify: true });
    expect(await emitted()).toEqual([{ type: "user.updated" }]);
  });

  it("continues where an interrupted run stopped, and reports the whole import", async () => {
    const rows = Array.from({ length: 1_200 }, (_, n) => ({
      id: `u${n}`,
      email: n === 3 ? "no" : `u${n}@example.com`,
    }));
    const source = await fileOf("users.json", JSON.stringify(rows));
    let pages = 0;
    const failing: Source<SourceUser> = {
      ...source,
      read: async (position) => {
        pages += 1;
        if (pages === 2) throw new Error("interrupted");
        return source.read(position);
      },
    };
    await expect(importUsers(context.runtime.intake, failing, QUIET)).rejects.toThrow("interrupted");
    const positions: (string | null)[] = [];
    const progress: number[] = [];
    const resumed: Source<SourceUser> = {
      ...source,
      read: async (position) => {
        positions.push(position);
        return source.read(position);
      },
    };
    const progressed = (read: number) => void progress.push(read);
    const report = await importUsers(context.runtime.intake, resumed, { ...QUIET, progressed });
    expect(positions).toEqual(["500", "1000"]);
    expect(progress).toEqual([1_000, 1_200]);
    expect(report).toMatchObject({
      ...counts(1_199, 0, 0),
      unmatched: [{ id: "u3", reason: "email: expected an email address" }],
    });
    expect(await context.test.rows("select id from import_run")).toEqual([]);
  });

  it("begins anew where the file was corrected after an interruption", async () => {
    const rows = Array.from({ length: 501 }, (_, n) => ({ id: `u${n}`, email: `u${n}@example.com` }));
    const source = await fileOf(
      "users.json",
      JSON.stringify([{ ...rows[0], email: "no" }, ...rows.slice(1)]),
    );
    const failing: Source<SourceUser> = {
      ...source,
      read: async (position) => {
        if (position !== null) throw new Error("interrupted");
        return source.read(position);
      },
    };
    await expect(importUsers(context.runtime.intake, failing, QUIET)).rejects.toThrow("interrupted");
    expect(await imported(rows)).toEqual({ ...counts(2, 0, 499), unmatched: [] });
  });

  it("waits for the same import that is already running, and reports its own changes only", async () => {
    const rows = Array.from({ length: 600 }, (_, n) => ({ id: `u${n}`, email: `u${n}@example.com` }));
    const source = await fileOf("users.json", JSON.stringify(rows));
    const { promise: secondWaits, resolve: waiting } = Promise.withResolvers<void>();
    const { promise: firstRuns, resolve: running } = Promise.withResolvers<void>();
    const slow: Source<SourceUser> = {
      ...source,
      read: async (position) => {
        running();
        await secondWaits;
        return source.read(position);
      },
    };
    const first = importUsers(context.runtime.intake, slow, QUIET);
    await firstRuns;
    const second = importUsers(context.runtime.intake, source, { ...QUIET, waiting });
    void second.then(() => waiting());
    expect([await first, await second]).toMatchObject([counts(600, 0, 0), counts(0, 0, 600)]);
  });

  it("writes nothing more once another run has taken over, as after it was stopped for a while", async () => {
    const rows = Array.from({ length: 600 }, (_, n) => ({ id: `u${n}`, email: `u${n}@example.com` }));
    const source = await fileOf("users.json", JSON.stringify(rows));
    const stopped: Source<SourceUser> = {
      ...source,
      read: async (position) => {
        if (position !== null) await context.test.rows("update lease set token = gen_random_uuid()");
        return source.read(position);
      },
    };
    await expect(importUsers(context.runtime.intake, stopped, QUIET)).rejects.toThrow("another run");
    expect(await context.test.rows('select count(*)::int from "user"')).toEqual([{ count: 500 }]);
    expect(await context.test.rows("select position, created from import_run")).toEqual([
      { position: "500", created: 500 },
    ]);
  });

  it("reports a file that cannot be read", async () => {
    await expect(fileOf("users.json", "{}")).rejects.toThrow("is not a JSON array");
    await expect(fileOf("users.json", "[")).rejects.toThrow("cannot be read");
    await expect(
      fileOf("users.csv", Buffer.from("email,name\na@example.com,J\xfcrgen", "latin1")),
    ).rejects.toThrow("is not encoded in UTF-8");
    await expect(fileOf("users.csv", "id,mail\n1,a@example.com")).rejects.toThrow('has no column "email"');
    await expect(fileOf("users.csv", "email,name,email\na@example.com,A,b@example.com")).rejects.toThrow(
      'has two columns "email"',
    );
    await expect(userFile("/nowhere/users.csv")).rejects.toThrow("does not exist");
  });

  it("refuses a file with a misspelt column, whose values would be lost", async () => {
    const said = 'has a column "external_id": its name is "externalId"';
    await expect(fileOf("users.csv", "external_id,email\n7,a@example.com")).rejects.toThrow(said);
    const items = [{ email: "a@example.com" }, { email: "b@example.com", external_id: "7" }];
    await expect(fileOf("users.json", JSON.stringify(items))).rejects.toThrow(said);
    await expect(fileOf("users.csv", "E-Mail,name\na@example.com,A")).rejects.toThrow('its name is "email"');
  });

  it("ignores further columns", async () => {
    const source = await fileOf("users.csv", "email,created_at,name,Name\na@example.com,2026-01-01,A,B");
    expect(await importUsers(context.runtime.intake, source, QUIET)).toMatchObject(counts(1, 0, 0));
    expect(await users()).toMatchObject([{ email: "a@example.com", name: "A" }]);
  });
});

describe("importing users of Better Auth", () => {
  // In this order, `U1` comes between `u1` and `u2`.
  it.each(["camel", "snake"])(
    "reads its table, with columns in %s case, in whatever order",
    async (style) => {
      const schema = `auth_${style}`;
      const verified = style === "camel" ? '"emailVerified"' : "email_verified";
      await context.test.rows(`create schema ${schema}`);
      await context.test.rows(
        `create table ${schema}."user" (id text collate "en-x-icu" primary key, name text not null, email text not null unique,
         ${verified} boolean not null, image text, ${style === "camel" ? '"createdAt"' : "created_at"} timestamp not null)`,
      );
      await context.test.rows(
        `insert into ${schema}."user" select case when n % 2 = 0 then 'u' else 'U' end || n, 'User ' || n, 'u' || n || '@example.com', true, null, now()
       from generate_series(1, 450) n`,
      );
      const url = new URL(context.test.url);
      url.searchParams.set("options", `-c search_path=${schema}`);
      const { withForeignDatabase } = await import("../../src/import/foreign-database.ts");
      const report = await withForeignDatabase(url.href, (foreign) =>
        importUsers(context.runtime.intake, betterAuthUsers(foreign), QUIET),
      );
      expect(report).toEqual({ ...counts(450, 0, 0), unmatched: [] });
      await context.test.rows(`drop schema ${schema} cascade`);
    },
  );
});

describe("importing Stripe's customers", () => {
  it("uses the user id of their metadata as external id, else the customer id, and no unsupported language", async () => {
    const page = {
      customers: [
        { id: "cus_1", email: "ann@example.com", name: "Ann", locale: "de-DE", userId: "old_1" },
        { id: "cus_2", email: "bob@example.com", name: null, locale: null, userId: null },
        { id: "cus_3", email: null, name: null, locale: null, userId: null },
        { id: "cus_4", email: "cy@example.com", name: null, locale: "fr", userId: null },
      ],
      next: null,
    };
    const source = stripeCustomers("provider-a", { listCustomerPage: async () => page, account: "one" });
    expect(await importUsers(context.runtime.intake, source, QUIET)).toMatchObject({
      ...counts(3, 0, 0),
      unmatched: [{ externalId: "cus_3", reason: "email: expected an email address" }],
    });
    expect(await context.test.rows('select external_id, locale from "user" order by external_id')).toEqual([
      { external_id: "cus_2", locale: "en" },
      { external_id: "cus_4", locale: "en" },
      { external_id: "old_1", locale: "de" },
    ]);
  });
});

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ENTRY } from "../cli/tollgate.ts";
import { loadFixture } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { stripeContext } from "../support/stripe-context.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../support/variables.ts";

const GUIDE = readFileSync(resolve(import.meta.dirname, "../../docs/how-to/switch-to-tollgate.md"), "utf8");
const BLOCKS = [...GUIDE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
  language,
  text,
}));

const context = stripeContext({ users: 0 });

function block(language: string): string {
  const text = BLOCKS.find((block) => block.language === language)?.text;
  if (text === undefined) throw new Error(`the guide has no block of ${language}`);
  return text;
}

function listed(overrides: FixtureOverrides): void {
  const { body } = loadFixture("stripe", "customer.subscription.updated", {
    planId: null,
    priceId: "price_pro_monthly",
    seats: 2,
    status: "active",
    ...overrides,
  });
  const { object } = (body as unknown as { data: { object: { id: string } } }).data;
  context.stripe.subscriptions.set(object.id, object);
}

it("every command of the guide succeeds, and everything matches the provider at the end", async () => {
  const { test, stripe, variables } = context;
  const folder = await temporaryFolder();
  await writeFile(join(folder, "users.csv"), block("csv"));
  await writeFile(join(folder, "mapping.json"), block("json"));
  await oldDatabase();
  stripe.customers.push({ id: "cus_3", email: "cy@example.com", metadata: { userId: null } });
  listed({ subscriptionId: "sub_1", customerId: "cus_1", userId: "user_1" });
  listed({ subscriptionId: "sub_3", customerId: "cus_3", userId: null });
  listed({ subscriptionId: "sub_9", customerId: "cus_9", userId: null });

  const commands = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text = "" }) =>
    text.trim().split("\n"),
  );
  expect(commands).toHaveLength(9);
  const url = new URL(test.url);
  url.searchParams.set("options", "-c search_path=old");
  const env = { ...PROCESS_VARIABLES, ...variables, OLD_DATABASE_URL: url.href };
  for (const command of commands) {
    const line = command.replace("npm run -s tollgate --", `"${process.execPath}" "${ENTRY}"`);
    await promisify(execFile)("sh", ["-c", line], { cwd: folder, env });
  }
  expect(
    await test.rows(
      `select s.provider_subscription_id as id, u.email from subscription s join "user" u on u.id = s.user_id order by 1`,
    ),
  ).toEqual([
    { id: "sub_1", email: "ann@example.com" },
    { id: "sub_3", email: "cy@example.com" },
    { id: "sub_9", email: "ann@example.com" },
  ]);
  const taken = await test.rows<{ email: string; provider_subscription_id: string | null }>(block("sql"));
  expect(taken.map(({ email, provider_subscription_id: id }) => [email, id]).sort()).toEqual([
    ["ann@example.com", "sub_1"],
    ["ann@example.com", "sub_9"],
    ["bob@example.com", null],
    ["cy@example.com", "sub_3"],
    ["eve@example.com", null],
  ]);
  await test.rows("drop schema old cascade");
  await test.rows("drop schema stripe cascade");
});

/** Better Auth's tables and the sync engine's, without anything that the provider does not list. */
async function oldDatabase(): Promise<void> {
  const { test } = context;
  await test.rows("create schema old");
  await test.rows("create schema stripe");
  await test.rows(
    'create table old."user" (id text primary key, name text, email text, "emailVerified" boolean)',
  );
  await test.rows(`insert into old."user" values ('user_5', 'Eve', 'eve@example.com', true)`);
  await test.rows(
    `create table old.subscription (id text primary key, plan text, "referenceId" text, "stripeCustomerId" text,
       "stripeSubscriptionId" text, status text, "periodEnd" timestamp, "cancelAtPeriodEnd" boolean, seats integer)`,
  );
  for (const table of ["customers", "subscriptions"]) {
    await test.rows(
      `create table stripe.${table} (_raw_data jsonb not null,
         id text generated always as ((_raw_data->>'id')::text) stored primary key, _last_synced_at timestamptz)`,
    );
  }
}

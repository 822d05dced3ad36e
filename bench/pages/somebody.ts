import { openDatabase } from "../../src/store/database.ts";
import { BrokenMeasurement } from "../shared/broken.ts";

/** A person with a subscription and something to read, signed in. @returns the cookie */
export async function signUpSomebody(url: string, databaseUrl: string): Promise<string> {
  const answer = await fetch(`${url}/api/auth/sign-up/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      name: "Somebody New",
      email: "somebody@example.com",
      password: "a long password",
    }),
  });
  if (answer.status !== 200)
    throw new BrokenMeasurement(`signing up: ${answer.status} ${await answer.text()}`);
  const { user } = (await answer.json()) as { user: { id: string } };
  const database = openDatabase({
    url: databaseUrl,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: 10_000,
  });
  try {
    await database.run({ name: "onboarded", text: `update "user" set onboarded = true where id = $1` }, [
      user.id,
    ]);
    await database.run(
      {
        name: "subscribed",
        text: `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
          cancel_at_period_end, out_of_order, current_period_end)
        values (gen_random_uuid(), $1, 'provider-a', 'sub_bench', 'pro', 3, 'active', false, false, now() + interval '20 days')`,
      },
      [user.id],
    );
    await database.run(
      {
        name: "told",
        text: `insert into notification (user_id, kind, details)
        select $1, 'subscription_activated', '{"planId": "pro"}' from generate_series(1, 5)`,
      },
      [user.id],
    );
  } finally {
    await database.close();
  }
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

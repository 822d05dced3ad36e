import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { listPayments } from "../../../operations/payments/list-payments.ts";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Pager } from "../../../ui/pager.tsx";
import { PaymentList } from "./payment-list.tsx";

/** The user's own payments, with their receipts. */
export async function Payments({
  page,
  cursor,
  query,
}: {
  page: z.input<typeof listPayments.output>;
  cursor: string | null;
  /** The other parameters of the page's address. */
  query: Record<string, string>;
}) {
  const t = await getTranslations("billing.payments");
  return (
    <Card title={t("title")}>
      {page.items.length === 0 ? (
        <EmptyState title={t("empty")} description={t("emptyAbout")} />
      ) : (
        <PaymentList payments={page.items} />
      )}
      <Pager
        path="/billing"
        place="payments"
        query={query}
        parameter="payments"
        cursor={cursor}
        nextCursor={page.nextCursor}
      />
    </Card>
  );
}

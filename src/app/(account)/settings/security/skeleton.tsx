import { Skeleton } from "../../../../ui/skeleton.tsx";

export function SecuritySkeleton() {
  return (
    <>
      <Skeleton className="mb-6 h-7 w-32" />
      <div className="flex flex-col gap-6">
        <Skeleton className="h-56" />
        <Skeleton className="h-40" />
      </div>
    </>
  );
}

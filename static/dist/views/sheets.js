import{Avatar as ne,counted as ae,html as y,Problem as oe,Sheet as _,titleOf as I,useEffect as le,useState as A}from"../app.js";function M({state:e,actions:n,onClose:t}){let[o,r]=A(null),[l,u]=A(""),[b,m]=A("");le(()=>{n.publicGroups().then(r,a=>u(a.message))},[]);let c=a=>n.join(a).then(t,$=>u($.message)),i=(o??[]).filter(a=>`${a.name} ${a.id}`.toLowerCase().includes(b.toLowerCase()));return y`
    <${_} title="Public groups" onClose=${t}>
      <${oe} text=${l} />
      <label class="field"><span class="unseen">Search public groups</span><input type="search" placeholder="Search groups" autofocus value=${b}
        onInput=${a=>m(a.target.value)} /></label>
      ${o===null&&!l&&y`<p class="quiet">Loading…</p>`}
      ${o!==null&&i.length===0&&y`<p class="quiet">${o.length===0?"No public groups yet. Create one and let anyone join.":`No groups match \u201C${b}\u201D.`}</p>`}
      <ul class="people">
        ${i.map(a=>y`
          <li key=${a.id} data-public=${a.id}>
            <span class="who"><${ne} name=${I(a)} square /><span class="person">${I(a)}<small>${ae(a.members,"member")}</small></span></span>
            ${e.groups.has(a.id)?y`<a class="button" href="#${encodeURIComponent(a.id)}" aria-label="Open ${I(a)}" onClick=${t}>Open</a>`:y`<button type="button" class="button primary" aria-label="Join ${I(a)}" onClick=${()=>c(a.id)}>Join</button>`}
          </li>`)}
      </ul>
    </${_}>`}import{Avatar as re,fullTime as ie,html as h,Icon as ue,Problem as O,Sheet as N,shortTime as me,titleOf as ce,useState as k}from"../app.js";function L({state:e,actions:n,onClose:t}){let[o,r]=k(""),[l,u]=k(""),b=[...e.inbox.items].reverse(),m=()=>{r(""),n.clearInbox().catch(c=>r(c.message))};return h`
    <${N} title="Inbox" side onClose=${t}>
      <${O} text=${o} />
      ${!e.inbox.complete&&h`<p class="quiet">Some older items are no longer available.</p>`}
      ${b.length===0&&h`<p class="quiet">You’re all caught up. Direct messages and mentions appear here.</p>`}
      <ul class="items">
        ${b.map(c=>h`<li key=${c.seq} class="item" data-seq=${c.seq} data-kind=${c.kind}><${pe} item=${c} groups=${e.groups} onReply=${u} onOpen=${t} /></li>`)}
      </ul>
      ${b.length>0&&h`<p class="buttons"><button type="button" class="button" onClick=${m}>Mark all as read</button></p>`}
      <${$e} key=${l} to=${l} send=${n.direct} />
    </${N}>`}function pe({item:e,groups:n,onReply:t,onOpen:o}){let r=n.get(e.group??""),l=r?ce(r):e.group;return h`
    <${re} name=${e.from??e.group??"?"} />
    <div class="item-text">
      <p class="item-head"><strong>${be(e,l)}</strong><time datetime=${e.sent_at} title=${ie(e.sent_at)}>${me(e.sent_at)}</time></p>
      ${e.body!==void 0&&h`<p class="item-body">${e.body}</p>`}
      ${e.kind==="direct"&&e.from&&h`<button type="button" class="text-button" onClick=${()=>t(e.from??"")}><${ue} name="reply" />Reply</button>`}
      ${r&&h`<a class="text-button" href="#${encodeURIComponent(r.id)}" onClick=${o}>Open ${l}</a>`}
    </div>`}function be(e,n){switch(e.kind){case"direct":return e.from;case"mention":return`${e.from} mentioned you in ${n}`;case"added":return`${e.from} added you to ${n}`;case"removed":return`${e.from} removed you from ${n}`;case"announcement":return`Announcement${e.from?` from ${e.from}`:""}`;case"schedule_failed":return"A scheduled message could not be sent";default:return e.kind.replaceAll("_"," ")}}function $e({to:e,send:n}){let[t,o]=k(e),[r,l]=k(""),[u,b]=k(""),[m,c]=k("");async function i(a){a.preventDefault(),b(""),c("");try{await n(t.trim(),r.trim()),l(""),c(`Sent to ${t.trim()}.`)}catch($){b($.message)}}return h`
    <form class="sheet-foot stack" onSubmit=${i}>
      <h3>Send a direct message</h3>
      <label class="field"><span>To</span><input name="to" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob"
        value=${t} onInput=${a=>o(a.target.value)} /></label>
      <label class="field"><span>Message</span><textarea name="direct" rows="2" required autofocus=${e!==""} value=${r}
        onInput=${a=>l(a.target.value)}></textarea></label>
      <${O} text=${u} />
      <p class="quiet" role="status">${m}</p>
      <button class="button primary">Send</button>
    </form>`}import{Avatar as de,html as f,IconButton as B,inviteLink as fe,Problem as he,roleOf as ge,Sheet as G,titleOf as j,useState as g}from"../app.js";var W={owner:0,admin:1,member:2};function z({state:e,actions:n,group:t,onClose:o}){let[r,l]=g(""),[u,b]=g(!1),m=e.groups.get(t);if(!m)return null;let c=ge(e,t),i=c==="owner"||c==="admin",a=[...e.members.get(t)?.values()??[]];a.sort((s,d)=>W[s.role]-W[d.role]||(s.user<d.user?-1:1));let $=s=>(l(""),s.then(()=>!0,d=>(l(d.message),!1)));return f`
    <${G} title="Members of ${j(m)}" side onClose=${o}>
      <${he} text=${r} />
      ${!m.direct&&f`<${ve} group=${m} manages=${i} actions=${n} />`}
      ${i&&f`<${ye} owner=${c==="owner"} onAdd=${(s,d)=>$(n.addMember(t,s,d))} />`}
      <ul class="people">
        ${a.map(s=>f`
          <li key=${s.user} data-user=${s.user}>
            <span class="who"><${de} name=${s.user} /><span class="person">${s.user}${s.user===e.me&&f` <small>(you)</small>`}</span></span>
            ${!m.direct&&s.user!==e.me&&f`<${B} icon="send" label="Message ${s.user}" onClick=${()=>$(n.openDirect(s.user))} />`}
            ${i&&s.role!=="owner"&&s.user!==e.me?f`<span class="controls"><select aria-label="Role of ${s.user}" value=${s.role} onChange=${d=>$(n.addMember(t,s.user,d.target.value))}>
                  <option value="member">Member</option><option value="admin">Admin</option></select>
                  <${B} icon="close" label="Remove ${s.user}" onClick=${()=>$(n.removeMember(t,s.user))} /></span>`:f`<span class="role">${s.role[0].toUpperCase()}${s.role.slice(1)}</span>`}
          </li>`)}
      </ul>
      ${a.length<m.members&&f`<p class="quiet">and ${(m.members-a.length).toLocaleString()} more</p>`}
      ${i&&f`<${ke} name=${m.name} onSave=${s=>$(n.changeGroup(t,{name:s}))} />
        <${we} group=${m} onSave=${s=>$(n.changeGroup(t,s))} />`}
      ${!m.direct&&f`<div class="sheet-foot">
        ${u?f`<p>Leave ${j(m)}?${m.members<=1?" You\u2019re the last member, so the group will be deleted.":""}</p>
              <p class="buttons"><button type="button" class="button danger" onClick=${()=>$(n.leave(t))}>Leave group</button>
              <button type="button" class="button" onClick=${()=>b(!1)}>Cancel</button></p>`:f`<button type="button" class="button" onClick=${()=>b(!0)}>Leave group</button>`}
      </div>`}
    </${G}>`}var U=100;function ve({group:e,manages:n,actions:t}){let[o,r]=g(""),[l,u]=g(""),b=()=>t.invite(e.id,U).then(i=>{u(i),r(`Whoever has this link can join: up to ${U} people.`)},i=>r(i.message));async function m(i){i.preventDefault();let a=i.target.elements.invite;a.focus(),a.select();let $=document.execCommand("copy")||await navigator.clipboard?.writeText(a.value).then(()=>!0,()=>!1);r($?"Link copied.":"Press Ctrl+C to copy the link.")}let c=e.visibility==="public"?"They sign in, and join under \u201CPublic groups\u201D.":n?"They sign in, and you add them by name below.":"They sign in, and the owner or an admin adds them.";return f`
    <form class="row-form" name="invite" onSubmit=${m}>
      <label class="field"><span>Invite link</span>
        <input name="invite" readonly value=${l||fe(e.id)} onFocus=${i=>i.target.select()} />
        <small role="status">${o||c}</small></label>
      <button class="button">Copy</button>
      ${n&&!l&&f`<button type="button" class="button" name="invite-people" onClick=${b}>Invite people</button>`}
    </form>`}function ye({onAdd:e}){let[n,t]=g(""),[o,r]=g("member");async function l(u){u.preventDefault(),await e(n.trim(),o)&&t("")}return f`
    <form class="row-form" onSubmit=${l}>
      <label class="field"><span>Add member</span>
        <input name="user" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob" value=${n}
          onInput=${u=>t(u.target.value)} /></label>
      <select aria-label="Role" value=${o} onChange=${u=>r(u.target.value)}>
        <option value="member">Member</option><option value="admin">Admin</option></select>
      <button class="button primary">Add</button>
    </form>`}function ke({name:e,onSave:n}){let[t,o]=g(e);return f`
    <form class="row-form" onSubmit=${l=>{l.preventDefault(),n(t.trim())}}>
      <label class="field"><span>Group name</span>
        <input name="group-name" maxlength="200" autocomplete="off" value=${t} onInput=${l=>o(l.target.value)} /></label>
      <button class="button" disabled=${t.trim()===e}>Rename</button>
    </form>`}function we({group:e,onSave:n}){let[t,o]=g(String(e.keep??"")),[r,l]=g(String(e.retain_days??"")),u=e.retain_days!==void 0,b={};return t!==""&&Number(t)!==e.keep&&(b.keep=Number(t)),u&&r!==""&&Number(r)!==e.retain_days&&(b.retain_days=Number(r)),f`
    <form class="stack" name="retention" onSubmit=${c=>{c.preventDefault(),n(b)}}>
      <label class="field"><span>Recent messages to keep</span>
        <input type="number" name="keep" required min="0" max="100000" value=${t} onInput=${c=>o(c.target.value)} />
        <small>They stay even when everyone has read them. With an archive, older ones stay available too.</small></label>
      ${u&&f`
        <label class="field"><span>Days until messages are removed</span>
          <input type="number" name="retain_days" required min="0" max="36500" value=${r} onInput=${c=>l(c.target.value)} />
          <small>0 keeps them forever. The server may have a shorter limit.</small></label>`}
      <button class="button" disabled=${Object.keys(b).length===0}>Save</button>
    </form>`}import{html as xe,newKey as Se,Problem as Ce,Sheet as F,useRef as Ie,useState as E}from"../app.js";function J({actions:e,onClose:n}){let[t,o]=E(""),[r,l]=E(!1),u=Ie({content:"",key:""});async function b(m){m.preventDefault();let c=new FormData(m.target),i=d=>String(c.get(d)??"").trim(),a=i("members").split(/[\s,]+/).filter(Boolean),$={name:i("name"),id:i("id")||void 0,visibility:i("visibility"),members:a.length>0?a:void 0},s=JSON.stringify($);u.current.content!==s&&(u.current={content:s,key:Se()}),l(!0),o("");try{await e.createGroup($,u.current.key),n()}catch(d){o(d.code==="exists"?"This ID is already in use. Choose another one.":d.message),l(!1)}}return xe`
    <${F} title="New group" onClose=${n}>
      <form class="stack" onSubmit=${b}>
        <label class="field"><span>Name</span><input name="name" required autofocus maxlength="200" autocomplete="off" placeholder="Weekend trip" /></label>
        <label class="field"><span>Members</span><input name="members" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob, carol" />
          <small>Separate names with commas. You can add more people later.</small></label>
        <fieldset class="choice">
          <legend>Who can join</legend>
          <label><input type="radio" name="visibility" value="private" checked /><span><strong>Private</strong><small>Only people you add</small></span></label>
          <label><input type="radio" name="visibility" value="public" /><span><strong>Public</strong><small>Anyone on this server</small></span></label>
        </fieldset>
        <details><summary>Set a custom ID</summary>
          <label class="field"><span class="unseen">Custom ID</span><input name="id" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="weekend-trip" />
            <small>The group’s name in the API: letters, digits and . _ - @ + | : only. It can’t be changed later.</small></label></details>
        <${Ce} text=${t} />
        <button class="button primary wide" disabled=${r}>Create group</button>
      </form>
    </${F}>`}import{Avatar as qe,counted as Pe,html as C,Problem as Re,Sheet as K,useEffect as Ae,useState as Y}from"../app.js";function H({state:e,actions:n,group:t,id:o,onClose:r}){let[l,u]=Y(null),[b,m]=Y(""),c=e.members.get(t);Ae(()=>{let s=!1;return n.receipts(t,o).then(d=>{s||u(d)},d=>{s||m(d.message)}),()=>{s=!0}},[c]);let i=l?.seen_by??[],a=i.filter(s=>s.read>=o).map(s=>s.user),$=i.filter(s=>s.read<o).map(s=>s.user);return C`
    <${K} title="Read receipts" side onClose=${r}>
      <${Re} text=${b} />
      ${!l&&!b&&C`<p class="quiet">Loading…</p>`}
      ${l&&C`
        <p class="lead">Read by ${l.read} of ${Pe(l.members,"member")}.</p>
        <${D} title="Read" users=${a} name="read" />
        <${D} title="Delivered" users=${$} name="seen" />
        <${D} title="Not delivered yet" users=${l.pending??[]} name="pending" />`}
    </${K}>`}var D=({title:e,users:n,name:t})=>n.length>0&&C`
  <section data-receipts=${t}>
    <h3>${e}</h3>
    <ul class="people">${n.map(o=>C`<li key=${o} data-user=${o}><span class="who"><${qe} name=${o} /><span class="person">${o}</span></span></li>`)}</ul>
  </section>`;import{Avatar as De,fullTime as Q,html as v,Problem as Te,Sheet as V,shortTime as _e,titleOf as Me,useRef as Ne,useState as w}from"../app.js";function X({state:e,actions:n,group:t="",onClose:o}){let[r,l]=w(""),[u,b]=w(t),[m,c]=w(!1),[i,a]=w(null),[$,s]=w(""),[d,q]=w(!1),x=Ne(0);async function T(p,se){let R=++x.current;q(!0),s("");try{let S=await n.search({q:r.trim(),group:u,sort:m?"best":"newest",cursor:se});R===x.current&&a({hits:[...p,...S.hits],next:S.next,before:S.incomplete_before})}catch(S){R===x.current&&s(S.message)}R===x.current&&q(!1)}function P(){x.current++,a(null),q(!1),s("")}function Z(p){p.preventDefault(),P(),r.trim()&&T([],"")}let ee=p=>Me(e.groups.get(p)??{id:p,name:""}),te=p=>{o(),n.goTo(p.message.group,p.message.id)};return v`
    <${V} title="Search messages" side onClose=${o}>
      <form class="stack" role="search" onSubmit=${Z}>
        <div class="row-form">
          <label class="field"><span class="unseen">Search messages</span>
            <input type="search" name="q" autofocus maxlength="250" autocomplete="off" enterkeyhint="search" placeholder="Words, “a phrase”, -without" value=${r}
              onInput=${p=>l(p.target.value)} /></label>
          <button class="button primary" disabled=${!r.trim()}>Search</button>
        </div>
        <div class="row-form">
          ${t&&v`
            <select aria-label="Where to search" value=${u} onChange=${p=>{b(p.target.value),P()}}>
              <option value=${t}>This group</option><option value="">All groups</option></select>`}
          <select aria-label="Order" value=${m?"best":"newest"} onChange=${p=>{c(p.target.value==="best"),P()}}>
            <option value="newest">Newest first</option><option value="best">Best match first</option></select>
        </div>
      </form>
      <${Te} text=${$} />
      <p class="quiet" role="status">${d?"Searching\u2026":i?.hits.length===0?"No messages found.":""}</p>
      ${i?.before&&v`<p class="quiet">Messages sent after ${Q(i.before)} may be missing.</p>`}
      <ul class="items hits" aria-label="Messages found">
        ${(i?.hits??[]).map(p=>v`
          <li key=${`${p.message.group} ${p.message.id}`}>
            <button type="button" class="item hit" data-hit="${p.message.group}/${p.message.id}" onClick=${()=>te(p)}>
              <${De} name=${p.message.from} />
              <span class="item-text">
                <span class="item-head"><strong>${p.message.from}</strong>
                  <time datetime=${p.message.sent_at} title=${Q(p.message.sent_at)}>${_e(p.message.sent_at)}</time></span>
                ${!u&&v`<small>${ee(p.message.group)}</small>`}
                <span class="item-body">${Oe(p.snippet)}</span>
              </span>
            </button>
          </li>`)}
      </ul>
      ${i?.next&&v`<button type="button" class="button" disabled=${d} onClick=${()=>T(i.hits,i.next??"")}>Show more</button>`}
    </${V}>`}function Oe({text:e,marks:n}){let t=[],o=0;for(let[r,l]of n)t.push(e.slice(o,r),v`<mark>${e.slice(r,l)}</mark>`),o=l;return[...t,e.slice(o)]}var tt={browse:M,inbox:L,members:z,new:J,receipts:H,search:X};export{tt as sheets};
//# sourceMappingURL=sheets.js.map
